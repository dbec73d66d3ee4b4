// The clusters that are kept from this host, in few words: for `bke status`.
import { BkeError } from '../lib/errors.ts';
import { listedShort } from '../lib/text.ts';
import { type ClusterRow, clusterRows } from './cluster/list-rows.ts';
import { everyKind, listAll } from './cluster/read-world.ts';
import type { CommandContext } from './context.ts';
import { findKubeconfig, withManagement } from './management.ts';

export type SiteCluster = Pick<ClusterRow, 'name' | 'namespace' | 'state'>;

/** None where they cannot be asked for: what is wrong with the bootstrap cluster itself is told elsewhere. */
export async function siteClusters(context: CommandContext): Promise<readonly SiteCluster[]> {
  const file = await findKubeconfig(context, undefined);
  if (file === undefined) return [];
  try {
    const listed = await withManagement(context, file, (client) => listAll(client, undefined, everyKind));
    return clusterRows(listed).map(({ name, namespace, state }) => ({ name, namespace, state }));
  } catch (thrown) {
    if (thrown instanceof BkeError) return [];
    throw thrown;
  }
}

export function clustersLine(clusters: readonly SiteCluster[]): string {
  const words = clusters.map(({ name, state }) => `${name} (${state})`);
  return `Clusters of this site: ${listedShort(words, 8)}; 'bke cluster list -A' tells more.`;
}
