// The clusters that are kept from this host, in few words: for `bke status`, and for whoever is about to take it away.
import { BkeError } from '../lib/errors.ts';
import { listedShort } from '../lib/text.ts';
import { type ClusterRow, clusterRows } from './cluster/list-rows.ts';
import { everyKind, listAll } from './cluster/read-world.ts';
import type { CommandContext } from './context.ts';
import { findKubeconfig, withManagement } from './management.ts';

/** They are said beside something else, which does not wait for an API server that hangs. */
const readTimeoutMs = 5000;

export type SiteCluster = Pick<ClusterRow, 'name' | 'namespace' | 'state'>;

/** None where they cannot be asked for: what is wrong with the bootstrap cluster itself is told elsewhere. */
export async function siteClusters(context: CommandContext): Promise<readonly SiteCluster[]> {
  const file = await findKubeconfig(context, undefined);
  if (file === undefined) return [];
  try {
    const listed = await withManagement(context, file, (client) => listAll(client, undefined, everyKind), {
      readTimeoutMs,
    });
    return clusterRows(listed).map(({ name, namespace, state }) => ({ name, namespace, state }));
  } catch (thrown) {
    if (thrown instanceof BkeError) return [];
    throw thrown;
  }
}

export function clustersLine(clusters: readonly SiteCluster[]): string {
  return `Clusters of this site: ${stateWords(clusters)}; 'bke cluster list -A' tells more.`;
}

/** What a reset of this host means for them. */
export function managedNotes(clusters: readonly SiteCluster[]): string[] {
  if (clusters.length === 0) return [];
  return [
    `Warning: clusters managed from here: ${stateWords(clusters)}. Their nodes go on, but nothing makes, mends or takes back hosts for them any more. Where they are to go too, run 'bke reset --all' on their hosts first; 'bke host list' names them.`,
  ];
}

function stateWords(clusters: readonly SiteCluster[]): string {
  return listedShort(
    clusters.map(({ name, state }) => `${name} (${state})`),
    8,
  );
}
