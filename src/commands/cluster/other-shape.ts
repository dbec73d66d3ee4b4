// What a create may not change of what is made already: nothing would apply it, or a roll-out of the control plane would.
import { isDeepStrictEqual } from 'node:util';
import { poolOf } from '../../cluster/render/pools.ts';
import type { HostConfig } from '../../config/cluster/config.ts';
import { fieldPath } from '../../config/read-yaml.ts';
import type { Path } from '../../config/yaml-source.ts';
import { isNode } from '../../controllers/bkeoperation/host-steps.ts';
import { isInitialised, type NodeView, type World } from '../../controllers/bkeoperation/world.ts';
import { readCommandID } from '../../controllers/host-command/command-id.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, numberAt, textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { listedShort, visible } from '../../lib/text.ts';
import type { LoadedHosts } from '../host/access.ts';

export interface Wanted {
  readonly loaded: Pick<LoadedHosts, 'config' | 'placeOf'>;
  /** As they would be applied. */
  readonly objects: readonly KubeObject[];
}

interface Guard {
  /** In the resource. */
  readonly path: readonly string[];
  /** In cluster.yaml. */
  readonly file: Path;
  /** What of it the resource has. */
  readonly what?: string;
}

const network = ['spec', 'network'];
const endpoint = ['spec', 'controlPlaneEndpoint'];
const settings = ['spec', 'settings'];

/** From when the control plane is initialised. */
const ofCluster: Readonly<Record<string, readonly Guard[]>> = {
  Cluster: [
    { path: ['spec', 'clusterNetwork', 'pods', 'cidrBlocks'], file: [...network, 'podCIDR'] },
    { path: ['spec', 'clusterNetwork', 'services', 'cidrBlocks'], file: [...network, 'serviceCIDR'] },
    { path: ['spec', 'clusterNetwork', 'serviceDomain'], file: [...network, 'dnsDomain'] },
    { path: ['spec', 'clusterNetwork', 'apiServerPort'], file: [...endpoint, 'port'] },
  ],
  BKECluster: [
    { path: ['spec', 'controlPlaneEndpoint', 'host'], file: [...endpoint, 'host'] },
    { path: ['spec', 'controlPlaneEndpoint', 'port'], file: [...endpoint, 'port'] },
    { path: ['spec', 'cni'], file: [...network, 'cni'] },
  ],
  KubeadmControlPlane: [
    { path: ['spec', 'replicas'], file: ['spec', 'hosts'], what: 'number of control planes' },
    { path: ['spec', 'version'], file: ['spec', 'kubernetesVersion'] },
    {
      path: ['spec', 'kubeadmConfigSpec', 'initConfiguration', 'nodeRegistration', 'ignorePreflightErrors'],
      file: [...settings, 'kubeadm', 'ignorePreflightErrors'],
    },
  ],
  MachineDeployment: [
    { path: ['spec', 'replicas'], file: ['spec', 'hosts'], what: 'number of workers' },
    { path: ['spec', 'template', 'spec', 'version'], file: ['spec', 'kubernetesVersion'] },
  ],
};

/** What every node is made with, of the BKECluster: from when one is. */
const ofNodes: readonly Guard[] = [
  { path: ['spec', 'settings', 'kubelet'], file: [...settings, 'kubelet'] },
  { path: ['spec', 'settings', 'kubeProxy'], file: [...settings, 'kubeProxy'] },
  { path: ['spec', 'settings', 'containerd'], file: [...settings, 'containerd'] },
  { path: ['spec', 'registry', 'host'], file: ['spec', 'registry', 'host'] },
  { path: ['spec', 'registry', 'port'], file: ['spec', 'registry', 'port'] },
  { path: ['spec', 'registry', 'ca'], file: ['spec', 'registry', 'caFile'] },
  { path: ['spec', 'registry', 'secretRef'], file: ['spec', 'registry', 'username'] },
  { path: ['spec', 'registry', 'rewrites'], file: ['spec', 'registry', 'rewrites'] },
  { path: ['spec', 'ntp'], file: ['spec', 'ntp'] },
];

/** What one node is made with, of its BKEHost; named as in cluster.yaml. */
const ofHost = ['roles', 'labels', 'taints', 'nodeIP'];

interface Difference {
  readonly words: string;
  /** Its Machine can be made anew without the cluster. */
  readonly ofWorker: boolean;
}

/** @throws BkeError BKE_CLUSTER_EXISTS */
export function refuseOtherShape(world: World, wanted: Wanted): void {
  const made = world.nodes.filter(isMade);
  const differences = [
    ...(isInitialised(world) ? [...hostDifferences(world, made, wanted), ...clusterDifferences(world, wanted)] : []),
    ...nodeDifferences(world, made, wanted),
  ];
  if (differences.length === 0) return;
  throw new BkeError(
    'BKE_CLUSTER_EXISTS',
    `cluster ${world.name} is there already, and the file describes another one`,
    {
      details: [...new Set(differences.map(({ words }) => words))],
      hint: hintOf(world, differences),
    },
  );
}

const notYet =
  'Hosts are not added, and no version is changed, before bke cluster scale and upgrade are there; new hosts can make a cluster of their own.';

function hintOf({ namespace, name }: World, differences: readonly Difference[]): string {
  const kubectl = `kubectl -n ${namespace}`;
  const anew = differences.every(({ ofWorker }) => ofWorker)
    ? `have these workers made anew: delete their Machines ('${kubectl} get machines -o wide' shows them, '${kubectl} delete machine NAME --wait=false' deletes one), and run the same command again.`
    : `make the cluster anew: '${kubectl} delete cluster ${name}' ends all that runs in it; run the same command when 'bke cluster list' does not show it any more. ${notYet}`;
  return `Creating changes nothing that is made already: write into the file what is there. To have it otherwise, ${anew}`;
}

/** From when a host is made a node on it is not prepared again, whatever the settings say by then; one whose machine goes is made anew. */
function isMade(node: NodeView): boolean {
  const { bkeMachine, machine, command } = node;
  if (bkeMachine === undefined || machine?.metadata.deletionTimestamp !== undefined) return false;
  return isNode(node) || readCommandID(textAt(command, 'spec', 'commandID') ?? '')?.purpose === 'bootstrap';
}

/** A host that is no node yet, and does not get well, may be put in another's place. */
function hostDifferences(world: World, made: readonly NodeView[], { loaded }: Wanted): Difference[] {
  const { config, placeOf } = loaded;
  const known = new Set(world.nodes.map(({ name }) => name));
  const asked = new Set(config.hosts.map(({ name }) => name));
  const added = config.hosts.flatMap((host, index) =>
    known.has(host.name) || !isFull(world, made, poolOf(host))
      ? []
      : [`${placed(['spec', 'hosts', index], placeOf)}: host ${host.name} is not part of it`],
  );
  const missing = made.flatMap(({ name }) =>
    asked.has(name)
      ? []
      : [`${placed(['spec', 'hosts'], placeOf)}: host ${name} is part of it, and the file does not name it`],
  );
  return [...added, ...missing].map((words) => ({ words, ofWorker: false }));
}

function isFull({ controlPlane, deployments }: World, made: readonly NodeView[], pool: NodeView['pool']): boolean {
  const owners = pool === 'control-plane' ? [controlPlane] : deployments;
  const wanted = owners.map((owner) => numberAt(owner, 'spec', 'replicas'));
  if (wanted.length === 0 || wanted.includes(undefined)) return false;
  return made.filter((node) => node.pool === pool).length >= wanted.reduce<number>((sum, count = 0) => sum + count, 0);
}

function clusterDifferences({ cluster, bkeCluster, controlPlane, deployments }: World, wanted: Wanted): Difference[] {
  return [cluster, bkeCluster, controlPlane, ...deployments].flatMap((before) =>
    (ofCluster[before?.kind ?? ''] ?? []).flatMap((guard) =>
      differencesOf(before, guard, { wanted, where: ' in the cluster', ofWorker: false }),
    ),
  );
}

function nodeDifferences({ bkeCluster }: World, made: readonly NodeView[], wanted: Wanted): Difference[] {
  if (made.length === 0) return [];
  const everywhere = ` on ${listedShort(
    made.map(({ name }) => name),
    5,
  )}`;
  const { hosts } = wanted.loaded.config;
  return [
    ...ofNodes.flatMap((guard) => differencesOf(bkeCluster, guard, { wanted, where: everywhere, ofWorker: false })),
    ...made.flatMap(({ name, host, pool }) =>
      ofHost.flatMap((field) => {
        const file = ['spec', 'hosts', indexOf(hosts, name), field];
        const told = { wanted, where: ` on ${name}`, ofWorker: pool === 'workers' };
        return differencesOf(host, { path: ['spec', field], file }, told);
      }),
    ),
  ];
}

function indexOf(hosts: readonly HostConfig[], name: string): number {
  return hosts.findIndex((host) => host.name === name);
}

interface Told {
  readonly wanted: Wanted;
  /** ' on cp1' */
  readonly where: string;
  readonly ofWorker: boolean;
}

function differencesOf(before: KubeObject | undefined, guard: Guard, { wanted, where, ofWorker }: Told): Difference[] {
  const after = wanted.objects.find(
    ({ kind, metadata }) => kind === before?.kind && metadata.name === before.metadata.name,
  );
  if (before === undefined || after === undefined) return [];
  const { what, file, path } = guard;
  return leaves(fieldAt(before, ...path), fieldAt(after, ...path)).map(({ below, is, says }) => {
    const field = placed([...file, ...below], wanted.loaded.placeOf);
    const of = what === undefined ? '' : ` (${what})`;
    const instead = says === undefined ? 'does not set it' : `says ${shown(says)}`;
    const words = `${field}${of} is ${shown(is)}${where}, the file ${instead}`;
    return { words, ofWorker };
  });
}

interface Leaf {
  readonly below: readonly string[];
  readonly is: unknown;
  readonly says: unknown;
}

/** Of mappings the fields that differ, so that each is told with its own line. */
function leaves(is: unknown, says: unknown): Leaf[] {
  if (isDeepStrictEqual(is, says)) return [];
  if (!isMapping(is ?? says) || !isMapping(says ?? is)) return [{ below: [], is, says }];
  const names = [...new Set([...Object.keys(is ?? {}), ...Object.keys(says ?? {})])];
  return names.flatMap((name) =>
    leaves(fieldAt(is, name), fieldAt(says, name)).map((leaf) => ({ ...leaf, below: [name, ...leaf.below] })),
  );
}

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `cluster.yaml:14:20: spec.settings.kubelet.maxPods` */
function placed(path: Path, placeOf: LoadedHosts['placeOf']): string {
  return `${placeOf(path)}: ${fieldPath(path)}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'not set';
  return typeof value === 'string' ? visible(value, 200) : visible(JSON.stringify(value), 200);
}
