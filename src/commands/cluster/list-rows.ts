// The clusters of a management cluster, a row each: pure.
import { holds } from '../../controllers/bkeoperation/causes.ts';
import { isNode } from '../../controllers/bkeoperation/host-steps.ts';
import { isPaused } from '../../controllers/bkeoperation/operations.ts';
import { type Listed, type NodeView, type World, worldOf } from '../../controllers/bkeoperation/world.ts';
import { numberAt, textAt } from '../../kube/fields.ts';
import { hostPort } from '../../lib/address.ts';

export interface ClusterRow {
  readonly name: string;
  readonly namespace: string;
  readonly state: string;
  /** Nodes that are ready, of those that are wanted. */
  readonly controlPlane: string;
  readonly workers: string;
  readonly version: string;
  readonly endpoint: string;
  readonly created: string;
  readonly reason: string;
}

export function clusterRows(listed: Listed): ClusterRow[] {
  return listed('cluster').map(({ metadata: { namespace = '', name, creationTimestamp = '' } }) => {
    const world = worldOf({ namespace, name }, listed);
    return {
      name,
      namespace,
      state: stateOf(world),
      controlPlane: countOf(world, 'control-plane'),
      workers: countOf(world, 'workers'),
      version: textAt(world.controlPlane, 'spec', 'version') ?? '',
      endpoint: endpointOf(world),
      created: creationTimestamp,
      reason:
        textAt(world.bkeCluster, 'status', 'state', 'message') ??
        textAt(world.bkeCluster, 'status', 'state', 'reason') ??
        '',
    };
  });
}

function stateOf({ cluster, bkeCluster }: World): string {
  if (cluster?.metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (isPaused(cluster)) return 'Paused';
  const told = textAt(bkeCluster, 'status', 'state', 'name');
  return told ?? (holds(cluster, 'Available') ? 'Available' : (textAt(cluster, 'status', 'phase') ?? 'Unknown'));
}

function countOf({ nodes }: World, pool: NodeView['pool']): string {
  const own = nodes.filter((node) => node.pool === pool);
  return `${own.filter((node) => isNode(node) && holds(node.machine, 'NodeReady')).length}/${own.length}`;
}

function endpointOf({ bkeCluster }: World): string {
  const host = textAt(bkeCluster, 'spec', 'controlPlaneEndpoint', 'host');
  const port = numberAt(bkeCluster, 'spec', 'controlPlaneEndpoint', 'port');
  return host === undefined || port === undefined ? '' : hostPort(host, port);
}
