// What is asked of a host before it is enrolled: by its roles, and by the settings of its cluster where there is one.
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import type { HostFacts } from '../../host/facts/schema.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { type CheckName, checkNames } from '../../lib/check-names.ts';
import type { HostNeeds, KubernetesNeeds } from '../../tasks/preflight/check.ts';
import { nodeSpaceOf } from '../../tasks/preflight/cluster-needs.ts';
import { nodePorts } from '../../tasks/preflight/kubernetes-ports.ts';
import { machineOf } from '../../tasks/preflight/machine.ts';
import { neededTools } from '../../tasks/preflight/needed-tools.ts';
import { ownThingsOf } from '../../tasks/preflight/own-things.ts';
import { type CheckedFinding, inspectHost } from '../../tasks/preflight/run.ts';
import { type Verdict, no, yes } from '../conditions.ts';

/** What a host is asked for by the cluster it is meant for. */
export interface ClusterNeeds {
  readonly bkeCluster: KubeObject;
  readonly kubernetesVersion: string;
}

const apiPort = 6443;

export function needsOf(name: string, spec: BKEHostSpec, cluster: ClusterNeeds | undefined): HostNeeds {
  const controlPlane = spec.roles.includes('control-plane');
  const port = numberAt(cluster?.bkeCluster, 'spec', 'controlPlaneEndpoint', 'port') ?? apiPort;
  const vxlan = textAt(cluster?.bkeCluster, 'spec', 'cni') !== 'none';
  return {
    ports: nodePorts(controlPlane ? port : undefined, vxlan),
    space: nodeSpaceOf(controlPlane),
    tools: neededTools(true),
    reachable: [],
    setsTime: listAt(cluster?.bkeCluster, 'spec', 'ntp').length > 0,
    runtime: true,
    ...(cluster === undefined ? {} : { kubernetes: kubernetesOf({ name, spec, vxlan, controlPlane }, cluster) }),
  };
}

function kubernetesOf(
  host: { readonly name: string; readonly spec: BKEHostSpec; readonly vxlan: boolean; readonly controlPlane: boolean },
  { bkeCluster, kubernetesVersion }: ClusterNeeds,
): KubernetesNeeds {
  const failCgroupV1 = fieldAt(bkeCluster, 'spec', 'settings', 'kubelet', 'failCgroupV1');
  return {
    kind: 'kubeadm',
    version: kubernetesVersion,
    controlPlane: host.controlPlane,
    file: 'cluster.yaml',
    nodeName: host.name,
    nodeIP: host.spec.nodeIP ?? host.spec.address,
    vxlan: host.vxlan,
    failCgroupV1: typeof failCgroupV1 === 'boolean' ? failCgroupV1 : undefined,
    networks: [],
  };
}

/** Checks that the cluster's settings leave out. Another bke may have had others. */
export function ignoredOf(cluster: ClusterNeeds | undefined): CheckName[] {
  const names = listAt(cluster?.bkeCluster, 'spec', 'settings', 'ignoreChecks');
  return checkNames.filter((name) => names.includes(name));
}

export interface Assessment {
  readonly preflight: Verdict;
  /** Whether something of another cluster is there. */
  readonly clean: Verdict;
}

/** @param asked when the facts were gathered */
export function assess(
  facts: HostFacts,
  needs: HostNeeds,
  { ignored, asked }: { readonly ignored: readonly CheckName[]; readonly asked: Date },
): Assessment {
  const machine = machineOf(facts, needs, { own: ownThingsOf(facts), asked });
  const findings = inspectHost({ machine, needs }, ignored);
  const errors = findings.filter(({ severity }) => severity === 'error');
  const left = errors.filter(({ check }) => check === leftovers);
  const other = errors.filter(({ check }) => check !== leftovers);
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  return {
    preflight: other.length > 0 ? no('ChecksFailed', linesOf(other)) : yes('ChecksPassed', linesOf(warnings)),
    clean: left.length > 0 ? no('Leftovers', linesOf(left)) : yes('Clean'),
  };
}

/** The check that finds programs and files of other clusters. */
const leftovers: CheckName = 'container-runtime';

const longest = 3000;

function linesOf(findings: readonly CheckedFinding[]): string {
  const lines = findings.map(
    ({ check, message, hint }) => `${check}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
  return lines.join('\n').slice(0, longest);
}
