// Work on hosts over SSH, outside of reconciles: one job for a host at a time, a bounded number together, failures again with growing pauses.
import { backOffMs } from '../../lib/back-off.ts';
import { createLimit, type Limit } from '../../lib/limit.ts';
import { BkeError } from '../../lib/errors.ts';
import { isLasting } from './reasons.ts';

export interface JobScope {
  /** Aborted at the job's deadline, and when this process no longer leads. */
  readonly signal: AbortSignal;
  /** What it does now. */
  readonly tell: (doing: string) => void;
}

export interface Job {
  /** e.g. enrol */
  readonly name: string;
  /** What it is done with: with another text a failure says nothing any more. */
  readonly inputs: string;
  readonly timeoutMs: number;
  /** No job of this process begins or goes on after it. */
  readonly signal: AbortSignal;
  run(scope: JobScope): Promise<void>;
}

export interface JobState {
  readonly name: string;
  readonly inputs: string;
  /** What it does now; undefined: it has ended. */
  readonly doing?: string;
  /** Of the attempt before, until this one is past that: nobody should think it was mended. */
  readonly failure?: Failure;
}

export interface Failure {
  readonly thrown: unknown;
  /** In a row. */
  readonly attempts: number;
  /** Monotonic time before which it is not tried again. */
  readonly againAt: number;
  /** What it did then. */
  readonly doing: string;
}

export interface JobsOptions {
  /** Jobs that run together. */
  readonly most: number;
  /** Told of each step, and of the end. */
  readonly onChange: (key: string) => void;
  readonly onEnd?: (name: string, outcome: 'done' | 'failed', seconds: number) => void;
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** After what only a person can mend. */
  readonly lastingPauseMs?: number;
}

export class HostJobs {
  readonly #options: Required<Omit<JobsOptions, 'onEnd'>> & Pick<JobsOptions, 'onEnd'>;
  readonly #states = new Map<string, JobState>();
  readonly #limit: Limit;

  constructor(options: JobsOptions) {
    this.#options = { firstPauseMs: 4000, longestPauseMs: 120_000, lastingPauseMs: 900_000, ...options };
    this.#limit = createLimit(options.most);
  }

  of(key: string): JobState | undefined {
    return this.#states.get(key);
  }

  isRunning(key: string): boolean {
    return this.#states.get(key)?.doing !== undefined;
  }

  forget(key: string): void {
    if (!this.isRunning(key)) this.#states.delete(key);
  }

  /**
   * Starts it, unless one runs for the host or it is too early after a failure of the same.
   * @returns after how many ms to ask again; undefined where it runs: its end will be told
   */
  want(key: string, job: Job): number | undefined {
    const state = this.#states.get(key);
    if (state?.doing !== undefined) return undefined;
    const before = state?.name === job.name && state.inputs === job.inputs ? state.failure : undefined;
    const early = (before?.againAt ?? 0) - performance.now();
    if (early > 0) return early;
    const { name, inputs } = job;
    this.#states.set(key, {
      name,
      inputs,
      doing: 'waiting for its turn',
      ...(before === undefined ? {} : { failure: before }),
    });
    void this.#limit(() => this.#run(key, job, before));
    return undefined;
  }

  async #run(key: string, job: Job, before: Failure | undefined): Promise<void> {
    const { name, inputs } = job;
    const started = performance.now();
    const deadline = AbortSignal.timeout(job.timeoutMs);
    const signal = AbortSignal.any([job.signal, deadline]);
    let doing = 'starting';
    let failure = before;
    const tell = (next: string): void => {
      if (doing === failure?.doing && next !== doing) failure = undefined;
      doing = next;
      this.#states.set(key, { name, inputs, doing, ...(failure === undefined ? {} : { failure }) });
      this.#options.onChange(key);
    };
    try {
      job.signal.throwIfAborted();
      await job.run({ signal, tell });
      this.#states.set(key, { name, inputs });
    } catch (thrown) {
      const late = deadline.aborted && !job.signal.aborted;
      const cause = late ? tooLate(key, { doing, timeoutMs: job.timeoutMs, cause: thrown }) : thrown;
      this.#states.set(key, { name, inputs, failure: this.#failure(cause, (before?.attempts ?? 0) + 1, doing) });
    }
    const failed = this.#states.get(key)?.failure !== undefined;
    this.#options.onEnd?.(name, failed ? 'failed' : 'done', (performance.now() - started) / 1000);
    this.#options.onChange(key);
  }

  #failure(thrown: unknown, attempts: number, doing: string): Failure {
    const { firstPauseMs, longestPauseMs, lastingPauseMs } = this.#options;
    const pause = isLasting(thrown) ? lastingPauseMs : backOffMs(attempts, firstPauseMs, longestPauseMs);
    return { thrown, attempts, againAt: performance.now() + pause, doing };
  }
}

function tooLate(
  key: string,
  { doing, timeoutMs, cause }: { readonly doing: string; readonly timeoutMs: number; readonly cause: unknown },
): BkeError {
  return new BkeError('BKE_TIMEOUT', `${key}: ${doing} did not end within ${Math.round(timeoutMs / 1000)} s`, {
    cause,
  });
}
