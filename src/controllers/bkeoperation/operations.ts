// Operations of one cluster: which of them runs, and which one is opened for a cluster that somebody made without one.
import { createHash } from 'node:crypto';
import { type BKEOperationSpec, type BKEOperationStatus, bkeOperation } from '../../api/kinds/bke-operation.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
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

/** Of one cluster, the one that was made first first. */
export function operationsOf({ namespace, name }: ClusterName, all: readonly KubeObject[]): KubeObject[] {
  return all
    .filter(
      (object) =>
        object.metadata.namespace === namespace &&
        textAt(object, 'spec', 'target', 'kind') === 'Cluster' &&
        textAt(object, 'spec', 'target', 'name') === name,
    )
    .toSorted((a, b) => order(a) - order(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** A running one comes before all that wait, also where another is older: times of creation tell seconds only. */
function order(object: KubeObject): number {
  const created = Date.parse(object.metadata.creationTimestamp ?? '') || 0;
  return textAt(object, 'status', 'phase') === 'Running' ? created - 1e12 : created;
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

export function isPaused(cluster: KubeObject | undefined): boolean {
  return fieldAt(cluster, 'spec', 'paused') === true;
}

/** Of each cluster; older ones are removed. */
const kept = 20;

export function outdated(operations: readonly KubeObject[]): KubeObject[] {
  const over = operations.filter(isOver);
  return over.slice(0, Math.max(0, over.length - kept));
}
