// When a failed command is given again: after pauses that grow, counted from when this process saw the failure; clocks of hosts say nothing.
import { backOffMs } from '../../lib/back-off.ts';
import type { Progress } from './progress.ts';

type Failed = Pick<Extract<Progress, { state: 'failed' }>, 'commandID' | 'attempt'>;

const firstMs = 10_000;
const mostMs = 300_000;
const mostKept = 5000;

export class Retries {
  readonly #due = new Map<string, number>();
  readonly #clock: () => number;

  /** @param clock monotonic, in ms */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** 0: it is time. */
  waitMs({ commandID, attempt }: Failed): number {
    const due = this.#due.get(commandID) ?? this.#clock() + backOffMs(attempt, firstMs, mostMs);
    if (this.#due.size >= mostKept) this.#due.clear();
    this.#due.set(commandID, due);
    return Math.max(0, due - this.#clock());
  }
}
