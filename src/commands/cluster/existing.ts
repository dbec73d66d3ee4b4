// What the management cluster has already of a cluster that is to be made: whether it may be made now, and what is left to do.
import { operationKind } from '../../controllers/cluster-objects.ts';
import { coreVersion, hostLabels, hostVersion, infrastructureVersion } from '../../cluster/render/names.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { BkeError } from '../../lib/errors.ts';
import { clustersAtWork, isOver, operationsOf } from '../../controllers/bkeoperation/operations.ts';
import { deletingError } from '../../controllers/bkeoperation/deleted.ts';
import { pausedError, pausesOf } from '../../controllers/bkeoperation/pauses.ts';

export interface Existing {
  readonly cluster: KubeObject | undefined;
  readonly bkeCluster: KubeObject | undefined;
  /** Names of all clusters of the namespace, those that are just being made too. */
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
  const operations = (await client.list(operationKind, { namespace })).items;
  const clusters = (await client.list({ apiVersion: coreVersion, kind: 'Cluster' }, { namespace })).items;
  return {
    cluster: clusters.find(({ metadata }) => metadata.name === name),
    clusters: namesOf(clusters, operations),
    bkeCluster: await client.get({ apiVersion: infrastructureVersion, kind: 'BKECluster', namespace, name }),
    hosts: new Map(hosts.items.flatMap((host) => (wanted.has(host.metadata.name) ? [[host.metadata.name, host]] : []))),
    otherHosts: (await hostsEverywhere(client, hosts.items)).filter(
      ({ metadata }) => metadata.namespace !== namespace || !wanted.has(metadata.name),
    ),
    operation: operationsOf({ namespace, name }, operations).find((object) => !isOver(object)),
  };
}

/** Names of all clusters of the namespace, as Existing has them. */
export async function clustersOf(client: Pick<KubeClient, 'list'>, namespace: string): Promise<ReadonlySet<string>> {
  const clusters = (await client.list({ apiVersion: coreVersion, kind: 'Cluster' }, { namespace })).items;
  return namesOf(clusters, (await client.list(operationKind, { namespace })).items);
}

/** The operation of a cluster is there before the cluster. */
function namesOf(clusters: readonly KubeObject[], operations: readonly KubeObject[]): ReadonlySet<string> {
  return new Set([...clusters.map(({ metadata }) => metadata.name), ...clustersAtWork(operations)]);
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

/** @throws BkeError BKE_OPERATION_CONFLICT, BKE_CLUSTER_DELETING, BKE_CLUSTER_PAUSED, BKE_HOST_TAKEN */
export function refuseConflicts(config: ClusterConfig, existing: Existing): void {
  const { name } = config;
  refuseOtherOperation(name, existing.operation);
  const deletedAt = existing.cluster?.metadata.deletionTimestamp;
  if (deletedAt !== undefined) throw deletingError(config, deletedAt);
  refusePaused(name, existing);
  refuseTaken(config, existing);
}

/** @throws BkeError BKE_CLUSTER_PAUSED */
function refusePaused(cluster: string, existing: Existing): void {
  const parts = [existing.cluster, existing.bkeCluster, ...existing.hosts.values()];
  const pauses = parts.flatMap((object) => (object === undefined ? [] : pausesOf(object)));
  if (pauses.length > 0) throw pausedError(cluster, pauses);
}

/** One that makes the cluster is gone on with. @throws BkeError BKE_OPERATION_CONFLICT */
export function refuseOtherOperation(cluster: string, operation: KubeObject | undefined): void {
  if (operation === undefined) return;
  const running = operation.metadata.name;
  const action = textAt(operation, 'spec', 'action') ?? 'another operation';
  const isStopping = fieldAt(operation, 'spec', 'cancelRequested') === true;
  if (action === 'create' && !isStopping) return;
  const attach = `'bke operation attach ${running}'`;
  throw new BkeError(
    'BKE_OPERATION_CONFLICT',
    `${action} of cluster ${cluster} is ${isStopping ? 'being cancelled' : 'running'}: operation ${running}`,
    {
      hint: isStopping
        ? `Create again when it has stopped: ${attach} shows when.`
        : `Watch it with ${attach}, stop it with 'bke operation cancel ${running}'.`,
    },
  );
}

/** @throws BkeError BKE_HOST_TAKEN */
export function refuseTaken(config: ClusterConfig, existing: Existing): void {
  const names = [...existing.hosts.values()].flatMap((host) => whyTaken(host, config.name, existing.clusters));
  refuseTakenHosts(config.name, [...names, ...takenMachines(config, existing)]);
}

/**
 * Nothing, or why the cluster cannot have the host: one is that of the machine that has it, or of the file that named it, as long as that cluster is there.
 * @param clusters as Existing has them
 */
export function whyTaken(host: KubeObject, cluster: string, clusters: ReadonlySet<string>): string[] {
  const { name, labels, deletionTimestamp } = host.metadata;
  const other = labels?.[hostLabels.cluster];
  if (fieldAt(host, 'spec', 'services') === true) return [`${name} carries the local services`];
  if (other !== undefined && other !== cluster) {
    const isTheirs = clusters.has(other) || fieldAt(host, 'spec', 'consumerRef') !== undefined;
    if (isTheirs) return [`${name} belongs to cluster ${other}`];
  }
  return deletionTimestamp === undefined ? [] : [`${name} is being deleted since ${deletionTimestamp}`];
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
    return [`${name} (${address}) is there as ${twin.metadata.name}${whose(twin, namespace)}`];
  });
}

/** ` of cluster prod in namespace team`, or what of that is not clear already. @param here the namespace that needs no word */
export function whose({ metadata }: KubeObject, here: string): string {
  const { labels, namespace = '' } = metadata;
  const cluster = labels?.[hostLabels.cluster];
  return `${cluster === undefined ? '' : ` of cluster ${cluster}`}${namespace === here ? '' : ` in namespace ${namespace}`}`;
}

function portOf(host: KubeObject): number {
  return numberAt(host, 'spec', 'ssh', 'port') ?? 22;
}

/** @throws BkeError BKE_HOST_TAKEN */
export function refuseTakenHosts(cluster: string, taken: readonly string[]): void {
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

/** By what controllers have said of it, whenever that was. */
export function isComplete({ cluster, bkeCluster }: Pick<Existing, 'cluster' | 'bkeCluster'>): boolean {
  const state = textAt(bkeCluster, 'status', 'state', 'name');
  return conditionOf(cluster, 'Available')?.status === 'True' && state === 'Healthy';
}
