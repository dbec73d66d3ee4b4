// All of a cluster, read once from the management cluster.
import { type Listed, kinds, type KindName, type World, worldOf } from '../../controllers/bkeoperation/world.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { kubeStatus } from '../../kube/status-error.ts';
import { BkeError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';

/** A kind that the cluster does not know has no objects. @param namespace undefined: all @throws BkeError as KubeClient does */
export async function listAll(
  client: Pick<KubeClient, 'list'>,
  namespace: string | undefined,
  names: readonly KindName[],
): Promise<Listed> {
  const found = await Promise.all(
    names.map(async (name): Promise<[KindName, readonly KubeObject[]]> => {
      const { items } = await client
        .list(kinds[name], namespace === undefined ? {} : { namespace })
        .catch((thrown: unknown) => {
          if (kubeStatus(thrown)?.status === 404) return { items: [] };
          throw thrown;
        });
      return [name, items];
    }),
  );
  const byName = new Map(found);
  return (name) => byName.get(name) ?? [];
}

export const everyKind: readonly KindName[] = [
  'operation',
  'cluster',
  'machine',
  'deployment',
  'controlPlane',
  'bkeCluster',
  'bkeMachine',
  'host',
  'command',
];

/** @throws BkeError BKE_CLUSTER_UNKNOWN */
export async function readWorld(
  client: Pick<KubeClient, 'list'>,
  namespace: string,
  name: string,
): Promise<{ readonly world: World; readonly listed: Listed }> {
  const listed = await listAll(client, namespace, everyKind);
  const world = worldOf({ namespace, name }, listed);
  if (world.cluster !== undefined) return { world, listed };
  throw await unknownCluster(client, { namespace, name });
}

/** The error for a name that no cluster of the namespace has: with the nearest one, or the namespace where it is. */
export async function unknownCluster(
  client: Pick<KubeClient, 'list'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<BkeError> {
  const clusters = (await listAll(client, undefined, ['cluster']))('cluster').map(({ metadata }) => metadata);
  const elsewhere = clusters.find((cluster) => cluster.name === name)?.namespace;
  const own = clusters.filter((cluster) => cluster.namespace === namespace).map((cluster) => cluster.name);
  const meant = nearest(name, own);
  const hint =
    elsewhere !== undefined
      ? `There is one in namespace ${elsewhere}: add '-n ${elsewhere}'.`
      : meant !== undefined
        ? `Did you mean '${meant}'?`
        : "'bke cluster list -A' shows those that are there.";
  return new BkeError('BKE_CLUSTER_UNKNOWN', `there is no cluster '${name}' in namespace ${namespace}`, { hint });
}
