// Holds `clusterctl move` back while hosts of a cluster or an operation of it are at work: HostCommands and BKEOperations stay where they are.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { isMoving, objectName } from '../bkehost/host.ts';
import { bkeClusterKind, keyIn } from '../cluster-objects.ts';
import { fieldManager } from './marks.ts';

/** clusterctl pauses the cluster, then waits until no object has it, and only then moves anything. */
const blockMoveAnnotation = 'clusterctl.cluster.x-k8s.io/block-move';

export interface BlockMove {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly atWork: boolean;
  /** What began before the pause ends in it: then it is taken away, but never set. */
  readonly paused: boolean;
}

/** @returns the object as it is then */
export async function blockMove(object: KubeObject, { client, atWork, paused }: BlockMove): Promise<KubeObject> {
  const is = object.metadata.annotations?.[blockMoveAnnotation] !== undefined;
  if (is === atWork || isMoving(object) || (atWork && paused)) return object;
  const { namespace, name } = objectName(object);
  const annotations = { [blockMoveAnnotation]: atWork ? '' : null };
  const patch = { metadata: { annotations } };
  return client.patch(keyIn(namespace, bkeClusterKind, name), patch, { type: 'merge', fieldManager });
}
