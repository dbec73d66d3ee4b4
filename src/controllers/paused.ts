// The first look of every reconcile, before deletion too: what somebody paused, or what is on its way into another cluster, is left alone.
import type { KubeClient, KubeObject } from '../kube/client.ts';
import { conditionOf } from '../kube/conditions.ts';
import { isMoving, isPaused } from './bkehost/host.ts';
import { no, storedConditions, type Verdict, yes } from './conditions.ts';
import { putStatus } from './object-status.ts';

/** Apart from what a reconcile itself says of the object: a paused one is not reconciled, and keeps that. */
const fieldManager = 'bke-controller-pauses';

export interface PauseScope {
  readonly client: Pick<KubeClient, 'apply'>;
  readonly now: () => Date;
  readonly clusterPaused: boolean;
}

/**
 * Says so in the condition Paused, as Cluster API asks of providers. Of an object that is moved nothing is written at all.
 * @returns whether nothing is to be done to it
 */
export async function isHeld(object: KubeObject, scope: PauseScope): Promise<boolean> {
  if (isMoving(object)) return true;
  const held = scope.clusterPaused || isPaused(object);
  const said = held ? pausedBy(scope.clusterPaused) : notPaused;
  const { status, reason } = conditionOf(object, 'Paused') ?? {};
  if (status !== said.status || reason !== said.reason) await tell(object, said, scope);
  return held;
}

async function tell(object: KubeObject, Paused: Verdict, { client, now }: PauseScope): Promise<void> {
  // What goes needs no word that it is not paused.
  if (Paused.status === 'False' && object.metadata.deletionTimestamp !== undefined) return;
  const conditions = storedConditions(object, ['Paused'], { said: { Paused }, now: now() });
  await putStatus(client, object, { status: { conditions }, fieldManager });
}

const notPaused = no('NotPaused', '');

function pausedBy(clusterPaused: boolean): Verdict {
  return yes('Paused', clusterPaused ? 'its Cluster is paused' : 'its own annotation says so');
}
