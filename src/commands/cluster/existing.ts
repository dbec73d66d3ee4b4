// What the management cluster has already of a cluster that is to be made: whether it may be made now, and what is left to do.
import { coreVersion, hostLabels, hostVersion, infrastructureVersion } from '../../cluster/render/names.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, keyOf, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { BkeError } from '../../lib/errors.ts';
import { isInitialised } from '../../controllers/bkeoperation/world.ts';
import { isOver, operationsOf } from '../../controllers/bkeoperation/operations.ts';
import { operationKind } from '../operation/follow.ts';

export interface Existing {
  readonly cluster: KubeObject | undefined;
  readonly bkeCluster: KubeObject | undefined;
  /** Names of all clusters of the namespace. */
  readonly clusters: ReadonlySet<string>;
  /** Those of the file that are there, by name. */
  readonly hosts: ReadonlyMap<string, KubeObject>;
  /** All others, of every namespace that may be read. */
  readonly otherHosts: readonly KubeObject[];
  /** That runs. */
  readonly operation: KubeObject | undefined;
}

export async function readExisting(client: Pick<KubeClient, 'get' | 'list'>, config: ClusterConfig): Promise<Existing> {
  const { namespace, name } = config;
  const wanted = new Set(config.hosts.map((host) => host.name));
  const hosts = await client.list({ apiVersion: hostVersion, kind: 'BKEHost' }, { namespace });
  const operations = await client.list(operationKind, { namespace });
  const clusters = (await client.list({ apiVersion: coreVersion, kind: 'Cluster' }, { namespace })).items;
  return {
    cluster: clusters.find(({ metadata }) => metadata.name === name),
    clusters: new Set(clusters.map(({ metadata }) => metadata.name)),
    bkeCluster: await client.get({ apiVersion: infrastructureVersion, kind: 'BKECluster', namespace, name }),
    hosts: new Map(hosts.items.flatMap((host) => (wanted.has(host.metadata.name) ? [[host.metadata.name, host]] : []))),
    otherHosts: (await hostsEverywhere(client, hosts.items)).filter(
      ({ metadata }) => metadata.namespace !== namespace || !wanted.has(metadata.name),
    ),
    operation: operationsOf({ namespace, name }, operations.items).find((object) => !isOver(object)),
  };
}

/** @param here those of the namespace: all that an account of it alone may read */
async function hostsEverywhere(
  client: Pick<KubeClient, 'list'>,
  here: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  try {
    return (await client.list({ apiVersion: hostVersion, kind: 'BKEHost' })).items;
  } catch (thrown) {
    if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_FORBIDDEN') return here;
    throw thrown;
  }
}

/** @throws BkeError BKE_OPERATION_CONFLICT, BKE_CLUSTER_EXISTS, BKE_HOST_TAKEN */
export function refuseConflicts(config: ClusterConfig, existing: Existing, where: string): void {
  const { name } = config;
  refuseOtherOperation(name, existing.operation, where);
  if (existing.cluster?.metadata.deletionTimestamp !== undefined) {
    throw new BkeError('BKE_CLUSTER_EXISTS', `cluster ${name} is being deleted`, { hint: 'Make it when it is gone.' });
  }
  refuseTakenHosts(name, [...takenNames(name, existing), ...takenMachines(config, existing)]);
}

/** One that makes the cluster is gone on with. */
function refuseOtherOperation(cluster: string, operation: KubeObject | undefined, where: string): void {
  if (operation === undefined) return;
  const running = operation.metadata.name;
  const action = textAt(operation, 'spec', 'action') ?? 'another operation';
  const isStopping = fieldAt(operation, 'spec', 'cancelRequested') === true;
  if (action === 'create' && !isStopping) return;
  const attach = `'bke operation attach ${running}${where}'`;
  throw new BkeError(
    'BKE_OPERATION_CONFLICT',
    `${action} of cluster ${cluster} is ${isStopping ? 'being cancelled' : 'running'}: operation ${running}`,
    {
      hint: isStopping
        ? `Create again when it has stopped: ${attach} shows when.`
        : `Watch it with ${attach}, stop it with 'bke operation cancel ${running}${where}'.`,
    },
  );
}

/** A host is one cluster's: that of the machine that has it, or of the file that named it, as long as that cluster is there. */
function takenNames(cluster: string, { hosts, clusters }: Existing): string[] {
  return [...hosts.values()].flatMap((host) => {
    const other = host.metadata.labels?.[hostLabels.cluster];
    const services = fieldAt(host, 'spec', 'services') === true;
    if (services) return [`${host.metadata.name} carries the local services`];
    if (other === undefined || other === cluster) return [];
    const isTheirs = clusters.has(other) || fieldAt(host, 'spec', 'consumerRef') !== undefined;
    return isTheirs ? [`${host.metadata.name} belongs to cluster ${other}`] : [];
  });
}

/** One machine has one agent: by a second name it would be taken from the first. */
function takenMachines({ hosts, namespace }: ClusterConfig, existing: Existing): string[] {
  return hosts.flatMap(({ name, address, ssh }) => {
    const known = existing.hosts.get(name);
    const knownAddress = textAt(known, 'spec', 'address');
    if (isInUse(known) && knownAddress !== undefined && knownAddress !== address)
      return [`${name} is the machine at ${knownAddress}, and the file says ${address}`];
    // Behind a bastion an address is one of another network.
    const twin = existing.otherHosts.find(
      (host) =>
        textAt(host, 'spec', 'address') === address &&
        portOf(host) === ssh.port &&
        ssh.bastion === undefined &&
        listAt(host, 'spec', 'ssh', 'bastions').length === 0,
    );
    if (twin === undefined) return [];
    const cluster = twin.metadata.labels?.[hostLabels.cluster];
    const whose = cluster === undefined ? '' : ` of cluster ${cluster}`;
    const where = twin.metadata.namespace === namespace ? '' : ` in namespace ${twin.metadata.namespace ?? ''}`;
    return [`${name} (${address}) is there as ${twin.metadata.name}${whose}${where}`];
  });
}

function portOf(host: KubeObject): number {
  return numberAt(host, 'spec', 'ssh', 'port') ?? 22;
}

function refuseTakenHosts(cluster: string, taken: readonly string[]): void {
  if (taken.length === 0) return;
  throw new BkeError(
    'BKE_HOST_TAKEN',
    `${taken.length === 1 ? 'a host is' : 'hosts are'} not free for cluster ${cluster}`,
    {
      details: taken,
      hint: "Take them out of the file, or free them; 'bke host list -A' shows whose they are.",
    },
  );
}

/** The bke of the host is at work there, or a machine has it: the controller looks after it, and checks for a bare host would fail. */
export function isInUse(host: KubeObject | undefined): boolean {
  if (host === undefined) return false;
  return fieldAt(host, 'spec', 'consumerRef') !== undefined || conditionOf(host, 'AgentReady')?.status === 'True';
}

export function isComplete({ cluster, bkeCluster }: Existing): boolean {
  const state = textAt(bkeCluster, 'status', 'state', 'name');
  return conditionOf(cluster, 'Available')?.status === 'True' && (state === undefined || state === 'Healthy');
}

/** What of a cluster that is up only scale and upgrade may change. */
const guarded: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Cluster: [
    ['spec', 'clusterNetwork', 'pods', 'cidrBlocks'],
    ['spec', 'clusterNetwork', 'services', 'cidrBlocks'],
    ['spec', 'clusterNetwork', 'serviceDomain'],
    ['spec', 'clusterNetwork', 'apiServerPort'],
  ],
  BKECluster: [
    ['spec', 'controlPlaneEndpoint', 'host'],
    ['spec', 'controlPlaneEndpoint', 'port'],
    ['spec', 'cni'],
  ],
  KubeadmControlPlane: [
    ['spec', 'replicas'],
    ['spec', 'version'],
  ],
  MachineDeployment: [
    ['spec', 'replicas'],
    ['spec', 'template', 'spec', 'version'],
  ],
};

/** @param objects as they would be applied. @throws BkeError BKE_CLUSTER_EXISTS */
export async function refuseOtherShape(
  client: Pick<KubeClient, 'get'>,
  existing: Existing,
  objects: readonly KubeObject[],
): Promise<void> {
  const { cluster } = existing;
  if (cluster === undefined || !isInitialised({ cluster, controlPlane: undefined })) return;
  const differences = isComplete(existing) ? hostDifferences(existing, objects) : [];
  for (const object of objects.filter(({ kind }) => Object.hasOwn(guarded, kind))) {
    const before = await client.get(keyOf(object));
    if (before !== undefined) differences.push(...shapeDifferences(before, object));
  }
  if (differences.length === 0) return;
  const { name } = cluster.metadata;
  throw new BkeError('BKE_CLUSTER_EXISTS', `cluster ${name} is up, and the file describes another one`, {
    details: differences,
    hint: 'Creating does not scale or upgrade: write into the file what is there.',
  });
}

/** Where all of it is up; before that a host that does not get well may be put in another's place. */
function hostDifferences({ cluster, hosts, otherHosts }: Existing, objects: readonly KubeObject[]): string[] {
  const added = objects.filter(({ kind, metadata }) => kind === 'BKEHost' && !hosts.has(metadata.name));
  const missing = otherHosts.filter(
    ({ metadata }) =>
      metadata.namespace === cluster?.metadata.namespace &&
      metadata.labels?.[hostLabels.cluster] === cluster?.metadata.name,
  );
  return [
    ...added.map(({ metadata }) => `host ${metadata.name} is not part of it`),
    ...missing.map(({ metadata }) => `host ${metadata.name} is part of it, and the file does not name it`),
  ];
}

function shapeDifferences(before: KubeObject, wanted: KubeObject): string[] {
  return (guarded[wanted.kind] ?? []).flatMap((path) => {
    const [is, says] = [fieldAt(before, ...path), fieldAt(wanted, ...path)].map(String);
    const what = `${wanted.kind} ${wanted.metadata.name}: ${path.slice(1).join('.')}`;
    return is === says ? [] : [`${what} is ${is}, the file says ${says}`];
  });
}
