// A pause of a loop that ends by itself where its signal is aborted: the pause ends early, and the loop looks.
import { setTimeout as pause } from 'node:timers/promises';

/** Never throws. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
