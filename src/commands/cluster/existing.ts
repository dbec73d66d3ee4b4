// What the management cluster has already of a cluster that is to be made: whether it may be made now, and what is left to do.
import { operationKind } from '../../controllers/cluster-objects.ts';
import { coreVersion, hostLabels, hostVersion, infrastructureVersion } from '../../cluster/render/names.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { BkeError } from '../../lib/errors.ts';
import { isOver, operationsOf } from '../../controllers/bkeoperation/operations.ts';

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
