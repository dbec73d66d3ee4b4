// Operations of one cluster: which of them runs, and which one is opened for a cluster that somebody made without one.
import { createHash } from 'node:crypto';
import { type BKEOperationSpec, type BKEOperationStatus, bkeOperation } from '../../api/kinds/bke-operation.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';
import { type ClusterName, kinds, type World } from './world.ts';

export interface OperationView {
  readonly name: string;
  readonly object: KubeObject;
  readonly spec: BKEOperationSpec;
  readonly status: BKEOperationStatus;
}

/** The API server holds its objects to the same schema. */
export function operationView(object: KubeObject): OperationView {
  const { spec, status } = bkeOperation.parse({ spec: object['spec'], status: object['status'] });
  return { name: object.metadata.name, object, spec, status: status ?? {} };
}

export function isOver(object: KubeObject): boolean {
  const phase = textAt(object, 'status', 'phase');
  return phase === 'Done' || phase === 'Failed' || phase === 'Cancelled';
}

/** Of one cluster: those that run, those that wait, those that are over; of each the one that was made first first. */
export function operationsOf({ namespace, name }: ClusterName, all: readonly KubeObject[]): KubeObject[] {
  return all
    .filter((object) => object.metadata.namespace === namespace && clusterOf(object) === name)
    .toSorted(
      (a, b) =>
        rankOf(a) - rankOf(b) ||
        written(a, b) ||
        created(a) - created(b) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );
}

/** Names of the clusters that operations which are not over are about. */
export function clustersAtWork(operations: readonly KubeObject[]): string[] {
  return operations.flatMap((operation) => (isOver(operation) ? [] : (clusterOf(operation) ?? [])));
}

function clusterOf(operation: KubeObject): string | undefined {
  const target = fieldAt(operation, 'spec', 'target');
  return textAt(target, 'kind') === 'Cluster' ? textAt(target, 'name') : undefined;
}

function rankOf(object: KubeObject): number {
  if (isOver(object)) return 2;
  return textAt(object, 'status', 'phase') === 'Running' ? 0 : 1;
}

/**
 * Nobody has written one that waits since it was made: its resource version is its place in the store's own order (KEP-5504), which whoever lists or watches
 * sees alike. Times of creation tell seconds only, and are of several clocks.
 */
function written(a: KubeObject, b: KubeObject): number {
  if (rankOf(a) !== 1) return 0;
  const order = Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion);
  return Number.isNaN(order) ? 0 : order;
}

function created({ metadata: { creationTimestamp = '' } }: KubeObject): number {
  return Date.parse(creationTimestamp) || 0;
}

/** Older than this, and no operation was made with it: whoever made it does not mean to make one. */
const openAfterMs = 15_000;

/**
 * How long until an operation is to be opened for the cluster; undefined: not as it is now. A paused one is left alone (clusterctl makes it so where it
 * moves one to), and one that has hosts already is not new (it came by a move).
 */
export function opensIn(world: World, operations: readonly KubeObject[], now: Date): number | undefined {
  const { cluster, bkeCluster, nodes } = world;
  if (cluster === undefined || bkeCluster === undefined) return undefined;
  if (operations.some((operation) => isOfThis(operation, cluster))) return undefined;
  if (cluster.metadata.deletionTimestamp !== undefined || isPaused(cluster)) return undefined;
  if (nodes.some(({ bkeMachine }) => textAt(bkeMachine, 'spec', 'providerID') !== undefined)) return undefined;
  const age = now.getTime() - Date.parse(cluster.metadata.creationTimestamp ?? '');
  return Math.max(0, openAfterMs - age);
}

/** What ended before the cluster was made was about one of the same name before it. */
function isOfThis(operation: KubeObject, { metadata }: KubeObject): boolean {
  const finished = textAt(operation, 'status', 'finished');
  if (!isOver(operation) || finished === undefined) return true;
  return Date.parse(finished) >= Date.parse(metadata.creationTimestamp ?? '');
}

/** Named by the cluster's uid: made twice it is the same one. */
export function openedOperation({ namespace, name }: ClusterName, cluster: KubeObject): KubeObject {
  const { creationTimestamp = '', uid = '' } = cluster.metadata;
  const [date = '', time = ''] = creationTimestamp.replaceAll(/[-:]|(?:\.\d+)?Z$/g, '').split('T');
  const suffix = createHash('sha256').update(uid).digest('hex').slice(0, 4);
  const spec: BKEOperationSpec = { action: 'create', target: { kind: 'Cluster', name } };
  return { ...kinds.operation, metadata: { namespace, name: `${date}-${time}-cluster-create-${suffix}` }, spec };
}

/** Whose the pause of a cancelled operation is: the next operation takes it back, and no other. */
export const pauseManager = 'bke-controller-operations';

export function isPaused(cluster: KubeObject | undefined): boolean {
  return fieldAt(cluster, 'spec', 'paused') === true;
}

/** Managers of the field that pauses the cluster. */
export function pausedBy(cluster: KubeObject | undefined): string[] {
  if (!isPaused(cluster)) return [];
  return listAt(cluster, 'metadata', 'managedFields').flatMap((entry) =>
    fieldAt(entry, 'fieldsV1', 'f:spec', 'f:paused') === undefined ? [] : (textAt(entry, 'manager') ?? []),
  );
}

/** Of each cluster; older ones are removed. */
const kept = 20;

export function outdated(operations: readonly KubeObject[]): KubeObject[] {
  const over = operations.filter(isOver);
  return over.slice(0, Math.max(0, over.length - kept));
}
