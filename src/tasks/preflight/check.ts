// A preflight check: one question about a host, answered from what was found there, never by changing something.
import type { CheckName } from '../../lib/check-names.ts';
import type { Machine } from './machine.ts';

export interface Finding {
  /** error: bke would fail or do harm; warning: it works, but a person should know. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** How to mend it: one sentence. */
  readonly hint?: string;
}

/** What the work that follows needs of the host. */
export interface HostNeeds {
  /** Ports that must be free or used by our own services. */
  readonly ports: readonly PortNeed[];
  /** Bytes that will be written below a path, beyond what is there. */
  readonly space: readonly { readonly path: string; readonly bytes: number; readonly use: string }[];
  /** Programs of the operating system that bke calls. */
  readonly tools: readonly string[];
  /** Directories that services running as their own user must be able to reach. */
  readonly reachable: readonly string[];
  /** Time servers are set, for which it takes a time service that bke can set them of. */
  readonly setsTime?: boolean;
  /** containerd will be installed: another one must not be there. */
  readonly runtime: boolean;
  /** A cluster will be made here. */
  readonly kubernetes?: KubernetesNeeds;
}

export interface PortNeed {
  readonly port: number;
  readonly use: string;
  /** Default tcp. What the kernel itself listens on (VXLAN) shows in no list: of these nothing is asked. */
  readonly protocol?: 'udp';
  /** Other hosts connect to it, though no setting chooses it. */
  readonly open?: boolean;
  /** No setting chooses it. */
  readonly fixed?: boolean;
}

export interface KubernetesNeeds {
  readonly kind: 'k3s' | 'kubeadm';
  /** API server and etcd will run here. */
  readonly controlPlane: boolean;
  /** The file in which settings are changed, for hints. */
  readonly file: string;
  /** Name of the node, where it is given and not the host's own. */
  readonly nodeName?: string;
  /** Address of the node, where it is given. */
  readonly nodeIP?: string;
  /** Packets between the pods of different nodes go by VXLAN. */
  readonly vxlan: boolean;
  /** e.g. v1.36.3 or v1.36.3+k3s1 */
  readonly version: string;
  /** What the kubelet is told; undefined: nothing, so that its default holds. */
  readonly failCgroupV1: boolean | undefined;
  readonly networks: readonly {
    readonly cidr: string;
    /** Who gets the addresses. */
    readonly use: string;
    /** Where the block was chosen. */
    readonly given: string;
  }[];
}

export interface CheckSubject {
  readonly machine: Machine;
  readonly needs: HostNeeds;
}

/** One of several hosts that are to work together. */
export interface NamedSubject extends CheckSubject {
  /** As the user named it. */
  readonly host: string;
}

export interface HostFinding extends Finding {
  /** undefined: the machine that bke runs on. */
  readonly host: string | undefined;
}

export interface Check {
  /** Stable, for --ignore-check. */
  readonly name: CheckName;
  /** What is asked, for people. */
  readonly title: string;
  /** Whether it is asked at all for what comes; absent: always. */
  appliesTo?(needs: HostNeeds): boolean;
  /** What is wrong with one host. */
  inspect(subject: CheckSubject): Finding[];
  /** What is wrong between hosts. */
  compare?(subjects: readonly NamedSubject[]): HostFinding[];
}

export function error(message: string, hint?: string): Finding {
  return { severity: 'error', message, ...(hint === undefined ? {} : { hint }) };
}

export function warning(message: string, hint?: string): Finding {
  return { severity: 'warning', message, ...(hint === undefined ? {} : { hint }) };
}
