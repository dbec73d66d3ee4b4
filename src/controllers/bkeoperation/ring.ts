// The ring of an operation's events in its status: numbered without gaps, the newest 500 of them.
import type { EventBody } from '../../api/events.ts';
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';

type Ring = NonNullable<BKEOperationStatus['events']>;

const most = 500;

export function withEvents(ring: Ring, bodies: readonly EventBody[], now: Date): Ring {
  const last = ring.at(-1)?.seq ?? 0;
  const at = now.toISOString();
  const added = bodies.map(({ type, ...data }, index) => ({ seq: last + index + 1, at, type, data }));
  return [...ring, ...added].slice(-most);
}
