// One case for each type of event; a forgotten one does not compile.
import type { OperationEvent } from '../../api/events.ts';

type Type = OperationEvent['type'];
export type EventOf<T extends Type> = { [P in T]: Extract<OperationEvent, { type: P }> & { readonly type: P } }[T];

export type EventCases<Result> = { readonly [T in Type]: (event: EventOf<T>) => Result };

export function matchEvent<T extends Type, Result>(event: EventOf<T>, cases: EventCases<Result>): Result {
  return cases[event.type](event);
}
