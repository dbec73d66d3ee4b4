// Why a pod is not ready, out of its status alone.
import type { KubeObject } from './client.ts';
import { conditionOf, conditionWords } from './conditions.ts';
import { fieldAt, listAt, numberAt, textAt } from './fields.ts';

/** undefined: it is ready, or has ended as it should. */
export function podTrouble(pod: KubeObject): string | undefined {
  if (conditionOf(pod, 'Ready')?.status === 'True' || fieldAt(pod, 'status', 'phase') === 'Succeeded') return undefined;
  if (pod.metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  return evictionTrouble(pod) ?? schedulingTrouble(pod) ?? containersTrouble(pod) ?? 'it is being started';
}

/** Whether what holds the pod up is seen in its events only: nothing is wrong with a container itself. */
export function waitsForEvents(pod: KubeObject): boolean {
  if (schedulingTrouble(pod) !== undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  return statusesOf(pod).every((status) => {
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    return waiting === undefined ? fieldAt(status, 'state', 'terminated') === undefined : starting.has(waiting);
  });
}

/** Name of a container that ends again and again and left no message: its log may have one. */
export function endedWithoutWords(pod: KubeObject): string | undefined {
  const crashed = statusesOf(pod).find(
    (status) =>
      textAt(status, 'state', 'waiting', 'reason') === 'CrashLoopBackOff' &&
      textAt(status, 'lastState', 'terminated', 'message') === undefined,
  );
  return textAt(crashed, 'name');
}

/** The kubelet's words for a container that nothing is wrong with yet. */
const starting = new Set(['ContainerCreating', 'PodInitializing']);

/** The node has put the whole pod out: evicted, or not admitted. */
function evictionTrouble(pod: KubeObject): string | undefined {
  if (fieldAt(pod, 'status', 'phase') !== 'Failed') return undefined;
  const reason = textAt(pod, 'status', 'reason') ?? '';
  return conditionWords({ reason, message: textAt(pod, 'status', 'message') ?? '' }) || undefined;
}

function schedulingTrouble(pod: KubeObject): string | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  return scheduled?.status === 'False' ? conditionWords(scheduled) : undefined;
}

function statusesOf(pod: KubeObject): readonly unknown[] {
  return [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
}

/** Of the first container that is in the way; init containers run before the others. */
function containersTrouble(pod: KubeObject): string | undefined {
  const troubles = statusesOf(pod).flatMap((status) => containerTrouble(status) ?? []);
  // Many wait for one that has a reason of its own.
  return troubles.find((trouble) => !starting.has(trouble)) ?? troubles[0];
}

function containerTrouble(status: unknown): string | undefined {
  const waiting = fieldAt(status, 'state', 'waiting');
  const name = textAt(status, 'name') ?? '';
  if (waiting !== undefined) {
    const reason = textAt(waiting, 'reason') ?? 'waiting';
    if (reason === 'CrashLoopBackOff') return crashWords(name, reason, fieldAt(status, 'lastState', 'terminated'));
    return conditionWords({ reason, message: textAt(waiting, 'message') ?? '' });
  }
  const terminated = fieldAt(status, 'state', 'terminated');
  if (terminated !== undefined) {
    return numberAt(terminated, 'exitCode') === 0 ? undefined : crashWords(name, 'Error', terminated);
  }
  return fieldAt(status, 'ready') === true ? undefined : `container ${name} runs and is not ready`;
}

/** How it ended last says more than that it ends again and again. */
function crashWords(name: string, reason: string, terminated: unknown): string {
  if (terminated === undefined) return `container ${name}: ${reason}`;
  const code = numberAt(terminated, 'exitCode') ?? 0;
  const own = textAt(terminated, 'reason') ?? reason;
  const message = textAt(terminated, 'message')?.trim();
  const ended = `container ${name}: ${own === 'Error' ? reason : `${reason} (${own})`}, last exit code ${code}`;
  return message === undefined || message === '' ? ended : `${ended}: ${message}`;
}
