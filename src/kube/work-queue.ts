// Work by key: each key once at a time and once in the queue, failures again with growing pauses, a bounded number at once.
import { backOffMs } from '../lib/back-off.ts';

/**
 * Waits for work elsewhere without taking a place: what may never answer keeps no other key from being worked on. The key itself is still worked
 * on, once; what comes after the wait goes on at once, also where all places are taken. One wait at a time for a key.
 * @param work ends unseen where the stop comes first: before it writes it looks at the signal. @throws the reason of that stop
 */
export type Aside = <Result>(work: () => Promise<Result>) => Promise<Result>;

export interface WorkQueueOptions {
  /** Keys worked on at the same time, without those that wait aside. */
  readonly concurrency: number;
  /** Throws to be called again for the key after a pause; the time it returns is when to look again although nothing changed. */
  readonly work: (
    key: string,
    signal: AbortSignal,
    aside: Aside,
  ) => Promise<{ readonly againAfterMs?: number } | undefined>;
  /** Told of each failure; `attempt` counts those in a row. */
  readonly onError?: (key: string, error: unknown, attempt: number) => void;
  /** Pause after the first failure, doubled each time; between half and all of it is taken. Default 200. */
  readonly firstPauseMs?: number;
  /** Default 60 000. */
  readonly longestPauseMs?: number;
}

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  /** Keys to be worked on, in the order in which they came. */
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Those of them that take no place. */
  readonly #aside = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  readonly #stop = new AbortController();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Worked on soon; once, however often it is added until then. What is added while it is worked on is worked on again. */
  add(key: string): void {
    if (this.#stop.signal.aborted) return;
    this.#waiting.add(key);
    // Whoever adds goes on first: what it adds more in the same turn is still one run.
    queueMicrotask(() => this.#startMore());
  }

  /** Of several times for a key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#stop.signal.aborted) return;
    const at = performance.now() + ms;
    const planned = this.#timers.get(key);
    if (planned !== undefined && planned.at <= at) return;
    clearTimeout(planned?.timer);
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      this.add(key);
    }, ms);
    this.#timers.set(key, { at, timer });
  }

  /** Keys that wait for their turn, without those that are planned for later. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Starts nothing more and tells what runs by its signal. @returns keys that still run after `timeoutMs` */
  async stop(timeoutMs: number): Promise<readonly string[]> {
    this.#stop.abort();
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiting.clear();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    await Promise.race([Promise.all(this.#running.values()), promise]);
    clearTimeout(timer);
    return [...this.#running.keys()];
  }

  #startMore(): void {
    for (const key of this.#waiting) {
      if (this.#running.size - this.#aside.size >= this.#options.concurrency) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.set(key, this.#workOn(key));
    }
  }

  async #workOn(key: string): Promise<void> {
    try {
      const result = await this.#options.work(key, this.#stop.signal, (work) => this.#waitAside(key, work));
      this.#failures.delete(key);
      if (result?.againAfterMs !== undefined) this.addAfter(key, result.againAfterMs);
    } catch (thrown) {
      this.#failed(key, thrown);
    } finally {
      this.#running.delete(key);
      this.#startMore();
    }
  }

  async #waitAside<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#aside.add(key);
    queueMicrotask(() => this.#startMore());
    try {
      return await Promise.race([work(), promise]);
    } finally {
      this.#aside.delete(key);
      signal.removeEventListener('abort', abort);
    }
  }

  #failed(key: string, thrown: unknown): void {
    if (this.#stop.signal.aborted) return;
    const { firstPauseMs = 200, longestPauseMs = 60_000, onError } = this.#options;
    const attempt = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, attempt);
    this.addAfter(key, backOffMs(attempt, firstPauseMs, longestPauseMs));
    onError?.(key, thrown, attempt);
  }
}
