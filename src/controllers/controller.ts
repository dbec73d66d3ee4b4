// What a controller is to the manager: a name, what it watches, and one function that brings one object to where it should be.
import type { Fence } from '../kube/fence.ts';
import type { Aside } from '../kube/work-queue.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Informers } from './informers.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';

/** When to look again; without a time only when something changes. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export interface ReconcileScope {
  /** Names controller and key in every line. */
  readonly log: Log;
  /** Aborted when the process ends or no longer leads: nothing may be written after that. */
  readonly signal: AbortSignal;
  /** Of the lease that it is done under: goes with every command to a host. */
  readonly leaseGeneration: number;
  /** For all that is asked of clusters elsewhere, which may be dead: it takes none of the controller's places. */
  readonly aside: Aside;
}

export interface Controller {
  /** In metrics and logs, e.g. `certificates`. */
  readonly name: string;
  /** Keys that are reconciled at once, without those that wait aside; one key never is twice at once. */
  readonly concurrency: number;
  /** Asks for the informers that say when there is something to do. Called once, before anything is watched. */
  watch(informers: Informers, enqueue: (key: string) => void): void;
  /**
   * Brings one object to where it should be: fetch, small steps, patch the status. Called again, later and later, when it throws.
   * @param key what `enqueue` was given
   */
  reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult>;
}

/** What controllers are made with. */
export interface ControllerContext {
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly now: () => Date;
  /** Objects of other namespaces are not looked after; undefined: of all. */
  readonly namespace: string | undefined;
  /** Of clients that are made later; absent: whatever they write goes out. */
  readonly fence?: Fence;
}
