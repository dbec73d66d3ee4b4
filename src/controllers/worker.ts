// Runs one controller: its queue, and what each reconcile tells in metrics and log.
import { type Aside, WorkQueue } from '../kube/work-queue.ts';
import type { Controller, ReconcileResult } from './controller.ts';
import type { Informers } from './informers.ts';
import { errorFields, type Log } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';

export interface WorkerOptions {
  readonly controller: Controller;
  readonly informers: Informers;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly leaseGeneration: number;
}

export class Worker {
  readonly #options: WorkerOptions;
  readonly #log: Log;
  readonly #queue: WorkQueue;
  /** Keys that came before `start`; undefined after it. */
  #early: Set<string> | undefined = new Set();
  #running = 0;

  constructor(options: WorkerOptions) {
    const { controller, informers, metrics } = options;
    this.#options = options;
    this.#log = options.log.child({ controller: controller.name });
    this.#queue = new WorkQueue({
      concurrency: controller.concurrency,
      work: (key, signal, aside) => this.#work(key, signal, aside),
      onError: (key, thrown, attempt) => this.#log.warn({ key, attempt, ...errorFields(thrown) }, 'reconcile failed'),
    });
    metrics.watchDepth(controller.name, () => this.#queue.depth);
    controller.watch(informers, (key) => {
      if (this.#early === undefined) this.#queue.add(key);
      else this.#early.add(key);
    });
  }

  /** Reconciles what was told so far, and from now on at once. */
  start(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const key of early) this.#queue.add(key);
  }

  /** @returns what still runs after `timeoutMs`, as `controller key` */
  async stop(timeoutMs: number): Promise<readonly string[]> {
    const left = await this.#queue.stop(timeoutMs);
    return left.map((key) => `${this.#options.controller.name} ${key}`);
  }

  async #work(key: string, signal: AbortSignal, aside: Aside): Promise<{ readonly againAfterMs?: number }> {
    const { controller, metrics, leaseGeneration } = this.#options;
    const started = performance.now();
    const seconds = (): number => (performance.now() - started) / 1000;
    metrics.running(controller.name, (this.#running += 1));
    try {
      const result: ReconcileResult = await controller.reconcile(key, {
        log: this.#log.child({ key }),
        signal,
        leaseGeneration,
        aside,
      });
      const again = result.requeueAfterMs;
      metrics.reconciled(controller.name, again === undefined ? 'success' : 'requeued', seconds());
      return again === undefined ? {} : { againAfterMs: again };
    } catch (thrown) {
      metrics.reconciled(controller.name, 'error', seconds());
      throw thrown;
    } finally {
      metrics.running(controller.name, (this.#running -= 1));
    }
  }
}
