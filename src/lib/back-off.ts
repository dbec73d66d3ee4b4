// The pause before another try: growing, jittered, and ended by a signal.
import { setTimeout as pause } from 'node:timers/promises';

const longestMs = 10_000;

/** For the pause after failure number `attempt`: `firstMs` doubled each time up to `mostMs`, of which between half and all is taken, so that many who failed together don't return together. */
export function backOffMs(attempt: number, firstMs: number, mostMs = longestMs): number {
  const full = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  return full / 2 + (Math.random() * full) / 2;
}

/** For loops that are more than "try the same again" (src/lib/retry.ts). */
export async function backOff(attempt: number, firstMs: number, signal?: AbortSignal): Promise<void> {
  await pause(backOffMs(attempt, firstMs), undefined, signal === undefined ? {} : { signal });
}
