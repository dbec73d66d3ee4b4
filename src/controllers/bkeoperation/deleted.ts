// A cluster that somebody deletes: nobody makes it any more.
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';
import { BkeError } from '../../lib/errors.ts';
import { clusterEntry, resourcesStep } from './entries.ts';
import { clusterCommand, hostListCommand } from './next-commands.ts';
import type { ClusterName, World } from './world.ts';

/** @param since RFC 3339 */
export function deletingError(cluster: ClusterName, since: string): BkeError {
  const { name } = cluster;
  return new BkeError('BKE_CLUSTER_DELETING', `Cluster ${name} is being deleted since ${since}`, {
    hint: `'${clusterCommand(cluster, 'describe')}' shows what of it is still there, and why. Make it anew when '${clusterCommand(cluster, 'list')}' does not show it any more.`,
  });
}

/** Why its operation is at its end; undefined: the cluster is there, or is not written yet. */
export function deletedError(world: World, told: BKEOperationStatus): BkeError | undefined {
  const { cluster, name } = world;
  const since = cluster?.metadata.deletionTimestamp;
  if (since !== undefined) return deletingError(world, since);
  if (cluster !== undefined || !wasWritten(told, name)) return undefined;
  return new BkeError('BKE_CLUSTER_DELETING', `Cluster ${name} was deleted while it was being made`, {
    hint: `'${hostListCommand(world)}' shows which of its hosts are free again. The same command makes it anew.`,
  });
}

/** All of it was seen. */
function wasWritten({ hosts = [] }: BKEOperationStatus, cluster: string): boolean {
  const entry = hosts.find(({ name }) => name === clusterEntry(cluster));
  return entry !== undefined && entry.step !== resourcesStep;
}
