// Whether the API server can be reached: asked at intervals, so that a process that only waits for the lease knows it too.
import type { KubeClient } from '../kube/client.ts';
import { rest } from '../lib/rest.ts';

export interface Contact {
  /** undefined: it answered lately. Else since when it did not. */
  lostSince(): Date | undefined;
}

export interface ContactOptions {
  readonly client: Pick<KubeClient, 'request'>;
  readonly now: () => Date;
  /** Ends the asking. */
  readonly signal: AbortSignal;
  /** Monotonic, in ms: a clock that is set says nothing of how long it is. */
  readonly clock?: () => number;
  /** Between two questions. */
  readonly intervalMs?: number;
  /** A restart of an API server takes shorter. */
  readonly toleranceMs?: number;
}

export function watchContact({
  client,
  now,
  signal,
  clock = () => performance.now(),
  intervalMs = 10_000,
  toleranceMs = 60_000,
}: ContactOptions): Contact {
  let last = clock();
  const ask = async (): Promise<void> => {
    while (!signal.aborted) {
      await client.request('GET', '/readyz', { timeoutMs: intervalMs, signal }).then(
        () => (last = clock()),
        () => undefined,
      );
      await rest(intervalMs, signal);
    }
  };
  void ask();
  return {
    lostSince: () => {
      const silentMs = clock() - last;
      return silentMs > toleranceMs ? new Date(now().getTime() - silentMs) : undefined;
    },
  };
}
