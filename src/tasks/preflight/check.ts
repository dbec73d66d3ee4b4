// A preflight check: one question about a host, answered from what was found there, never by changing something.
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
  /** containerd will be installed: another one must not be there. */
  readonly runtime: boolean;
  /** A cluster will be made here. */
  readonly kubernetes?: KubernetesNeeds;
}

export interface PortNeed {
  readonly port: number;
  readonly use: string;
  /** No setting chooses it, and only this host's own programs connect to it. */
  readonly fixed?: boolean;
}

export interface KubernetesNeeds {
  readonly kind: 'k3s' | 'kubeadm';
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

export interface Check {
  /** Stable, for --ignore-check and bke explain. */
  readonly name: string;
  /** What is asked, for people. */
  readonly title: string;
  inspect(subject: CheckSubject): Finding[];
}

export function error(message: string, hint?: string): Finding {
  return { severity: 'error', message, ...(hint === undefined ? {} : { hint }) };
}

export function warning(message: string, hint?: string): Finding {
  return { severity: 'warning', message, ...(hint === undefined ? {} : { hint }) };
}
