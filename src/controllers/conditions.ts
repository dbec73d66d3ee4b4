// Conditions as controllers write them: what each says, and since when.
import type { KubeObject } from '../kube/client.ts';
import { type Condition, conditionOf } from '../kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../kube/fields.ts';
import { timeText } from '../lib/time-text.ts';

export interface Verdict {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface StoredCondition extends Condition {
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

export const yes = (reason: string, message = ''): Verdict => ({ status: 'True', reason, message });
export const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });
export const unknown = (reason: string, message: string): Verdict => ({ status: 'Unknown', reason, message });

type Said<Type extends string> = Readonly<Record<Type, Verdict>>;

/** What the object said before; undefined where it said nothing. */
export function verdictBefore(object: KubeObject, type: string): Verdict | undefined {
  const found = conditionOf(object, type);
  if (found === undefined) return undefined;
  const { status, reason, message } = found;
  return { status: status === 'True' || status === 'False' ? status : 'Unknown', reason, message };
}

/** In the order of `types`. A time of transition stays while the status does. */
export function storedConditions<Type extends string>(
  object: KubeObject,
  types: readonly Type[],
  { said, now }: { readonly said: Said<Type>; readonly now: Date },
): StoredCondition[] {
  const before = listAt(object, 'status', 'conditions');
  return types.map((type) => {
    const old = before.find((condition) => fieldAt(condition, 'type') === type);
    const { status, reason, message } = said[type];
    const since = textAt(old, 'status') === status ? textAt(old, 'lastTransitionTime') : undefined;
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: since ?? timeText(now),
      observedGeneration: object.metadata.generation ?? 0,
    };
  });
}

export interface Turn<Type extends string> {
  readonly type: Type;
  readonly verdict: Verdict;
}

/** Conditions whose status or reason is another than the object's. */
export function turned<Type extends string>(
  object: KubeObject,
  types: readonly Type[],
  said: Said<Type>,
): Turn<Type>[] {
  return types.flatMap((type) => {
    const before = conditionOf(object, type);
    const verdict = said[type];
    if (before?.status === verdict.status && before.reason === verdict.reason) return [];
    return [{ type, verdict }];
  });
}
