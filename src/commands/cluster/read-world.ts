// All of a cluster, read once from the management cluster.
import { type Listed, kinds, type KindName, type World, worldOf } from '../../controllers/bkeoperation/world.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';

/** A kind that the cluster does not know has no objects. */
export async function listAll(
  client: Pick<KubeClient, 'list'>,
  namespace: string,
  names: readonly KindName[],
): Promise<Listed> {
  const found = await Promise.all(
    names.map(async (name): Promise<[KindName, readonly KubeObject[]]> => {
      const { items } = await client.list(kinds[name], { namespace }).catch((thrown: unknown) => {
        if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_FAILED') return { items: [] };
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
  throw unknownCluster(name, { namespace, names: listed('cluster').map(({ metadata }) => metadata.name) });
}

export function unknownCluster(
  name: string,
  { namespace, names }: { readonly namespace: string; readonly names: readonly string[] },
): BkeError {
  const meant = nearest(name, names);
  return new BkeError('BKE_CLUSTER_UNKNOWN', `there is no cluster '${name}' in namespace ${namespace}`, {
    hint: meant === undefined ? "'bke cluster list' shows those that are there." : `Did you mean '${meant}'?`,
  });
}
