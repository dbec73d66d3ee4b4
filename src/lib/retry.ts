// Tries again what can heal: bounded in number and in time, with growing, jittered pauses.
import { setTimeout as pause } from 'node:timers/promises';
import { backOffMs } from './back-off.ts';

export interface RetryOptions {
  /** In all, the first one included. */
  readonly attempts: number;
  /** No attempt starts later than this many ms after the first. */
  readonly deadlineMs: number;
  /** Pause after the first failure; doubles each time up to `longestMs`, and between half and all of it is taken. */
  readonly pauseMs: number;
  readonly longestMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** false: the error is final. */
  retriable(error: unknown): boolean;
}

/** @throws what the last attempt threw, never an error about retrying; the signal's reason when aborted in a pause. */
export async function retry<T>(
  work: (attempt: number, remainingMs: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const end = performance.now() + options.deadlineMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt, Math.max(0, end - performance.now()));
    } catch (error) {
      const wait = backOffMs(attempt, options.pauseMs, options.longestMs);
      if (attempt >= options.attempts || performance.now() + wait >= end || !options.retriable(error)) throw error;
      await pause(wait, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  }
}
