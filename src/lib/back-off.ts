// The pause before another try, for loops that are more than "try the same again" (src/lib/retry.ts).
import { setTimeout as pause } from 'node:timers/promises';

/** After failure number `attempt`: `firstMs` doubled each time up to 10 s, of which between half and all is taken, so that many who failed together don't return together. */
export async function backOff(attempt: number, firstMs: number, signal?: AbortSignal): Promise<void> {
  const full = Math.min(10_000, firstMs * 2 ** (attempt - 1));
  await pause(full / 2 + (Math.random() * full) / 2, undefined, signal === undefined ? {} : { signal });
}
