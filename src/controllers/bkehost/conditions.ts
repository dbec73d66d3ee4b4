// The conditions of a BKEHost: what each says, and what they say together.
import type { KubeObject } from '../../kube/client.ts';
import { type Condition, conditionOf } from '../../kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';

/** In the order in which they come true. */
export const conditionTypes = ['HostKeysKnown', 'Reachable', 'AgentReady', 'Preflight', 'Clean', 'Available'] as const;
export type ConditionType = (typeof conditionTypes)[number];

export interface Verdict {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export type Verdicts = Readonly<Record<ConditionType, Verdict>>;

export interface StoredCondition extends Condition {
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

export const yes = (reason: string, message = ''): Verdict => ({ status: 'True', reason, message });
export const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });
export const unknown = (reason: string, message: string): Verdict => ({ status: 'Unknown', reason, message });

/** What the object said before; undefined where it said nothing. */
export function verdictBefore(object: KubeObject, type: ConditionType): Verdict | undefined {
  const found = conditionOf(object, type);
  if (found === undefined) return undefined;
  const { status, reason, message } = found;
  return { status: status === 'True' || status === 'False' ? status : 'Unknown', reason, message };
}

/** A time of transition stays while the status does. */
export function storedConditions(object: KubeObject, verdicts: Verdicts, now: Date): StoredCondition[] {
  const before = listAt(object, 'status', 'conditions');
  return conditionTypes.map((type) => {
    const old = before.find((condition) => fieldAt(condition, 'type') === type);
    const { status, reason, message } = verdicts[type];
    const since = textAt(old, 'status') === status ? textAt(old, 'lastTransitionTime') : undefined;
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: since ?? `${now.toISOString().slice(0, 19)}Z`,
      observedGeneration: object.metadata.generation ?? 0,
    };
  });
}

export interface Turn {
  readonly type: ConditionType;
  readonly verdict: Verdict;
}

/** Conditions whose status or reason is another than the object's. */
export function turned(object: KubeObject, verdicts: Verdicts): Turn[] {
  return conditionTypes.flatMap((type) => {
    const before = conditionOf(object, type);
    const verdict = verdicts[type];
    if (before?.status === verdict.status && before.reason === verdict.reason) return [];
    return [{ type, verdict }];
  });
}
