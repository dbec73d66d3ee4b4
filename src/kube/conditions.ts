// Conditions of an object: what its controller says about it.
import { fieldAt, listAt, textAt } from './fields.ts';

export interface Condition {
  readonly type: string;
  /** True, False or Unknown. */
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** undefined where the object's controller has said nothing about `type` yet. */
export function conditionOf(object: unknown, type: string): Condition | undefined {
  const found = findCondition(object, type);
  if (found === undefined) return undefined;
  return {
    type,
    status: textAt(found, 'status') ?? 'Unknown',
    reason: textAt(found, 'reason') ?? '',
    message: textAt(found, 'message') ?? '',
  };
}

/** Since when its status is what it is: RFC 3339. */
export function conditionSince(object: unknown, type: string): string | undefined {
  return textAt(findCondition(object, type), 'lastTransitionTime');
}

function findCondition(object: unknown, type: string): unknown {
  return listAt(object, 'status', 'conditions').find((condition) => fieldAt(condition, 'type') === type);
}

/** 'Reason: message', or what there is of the two. */
export function conditionWords({ reason, message }: Pick<Condition, 'reason' | 'message'>): string {
  return [reason, message].filter((part) => part !== '').join(': ');
}
