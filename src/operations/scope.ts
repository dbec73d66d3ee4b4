// What a running step may use, whoever runs it: the local runner, or the agent's loop on a host.
import type { Change } from '../host/changes/change.ts';
import type { Host } from '../host/host.ts';

interface StepProgress {
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
  readonly unit?: 'bytes' | 'items';
}

/** What a running task may use. In a dry run nothing changes: `apply` and `act` only report what they would do. */
export interface TaskScope {
  readonly host: Host;
  readonly dryRun: boolean;
  /** Aborted when the step is cancelled or its time is over. `apply`, `act` and `wait` look at it themselves. */
  readonly signal: AbortSignal;
  /** Observes, records the intent, applies, observes again, records. Returns whether something changed (in a dry run: would change). */
  apply(change: Change): Promise<boolean>;
  /**
   * An action that is no Change (it fills a zone, asks a service, pushes an image). `what` is a plan line, e.g. 'push 12 images to the registry'.
   * The action answers false where it found nothing to do.
   */
  act(what: string, action: () => Promise<boolean | void>): Promise<void>;
  progress(progress: StepProgress): void;
  warn(message: string): void;
  /**
   * Polls `probe` until it answers ready, at most `timeoutMs`; while waiting, events carry the cause the system gives. Does nothing in a dry run.
   * @throws BkeError BKE_TIMEOUT with the last cause; BKE_CANCELLED.
   */
  wait(wait: Wait): Promise<void>;
}

export interface Wait {
  /** What is waited for: 'the registry to answer on 10.0.0.5:40443'. */
  readonly for: string;
  readonly timeoutMs: number;
  /** Between two probes; default 1000. */
  readonly intervalMs?: number;
  /** What a person can do meanwhile, e.g. 'journalctl -u bke-registry'. */
  readonly next?: string;
  /** @param over aborted once nobody takes the answer any more: what was opened for it is then closed by who opened it */
  probe(over: AbortSignal): Promise<{ readonly ready: true } | { readonly ready: false; readonly cause: string }>;
}
