// The ring of an operation's events in its status: numbered without gaps, the newest 500 of them, or fewer where they are large.
import type { EventBody } from '../../api/events.ts';
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';

type Ring = NonNullable<BKEOperationStatus['events']>;

const most = 500;
/** etcd takes objects of 1.5 MiB; the status of each host has its share of that, too. */
const mostBytes = 512 * 1024;

export function withEvents(ring: Ring, bodies: readonly EventBody[], now: Date): Ring {
  const last = ring.at(-1)?.seq ?? 0;
  const at = now.toISOString();
  const added = bodies.map(({ type, ...data }, index) => ({ seq: last + index + 1, at, type, data }));
  return withinBytes([...ring, ...added].slice(-most));
}

/** The newest one stays, whatever its size. */
function withinBytes(ring: Ring): Ring {
  let bytes = 0;
  const tooMany = ring.findLastIndex((event, index) => {
    bytes += Buffer.byteLength(JSON.stringify(event));
    return bytes > mostBytes && index < ring.length - 1;
  });
  return ring.slice(tooMany + 1);
}
