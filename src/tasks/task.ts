// A task: one thing that is done to a machine, by the CLI on its own host or by the agent on its host; it doesn't know which (design section 3).
import type { Change } from '../host/changes/change.ts';
import type { Host } from '../host/host.ts';

/** What a running task may use. In a dry run nothing changes: `apply` and `act` only report what they would do. */
export interface TaskScope {
  readonly host: Host;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Observes, records the intent, applies, observes again, records. Returns whether something changed. */
  apply(change: Change): Promise<boolean>;
  /** An action that is no Change (it fills a zone, asks a service, pushes an image). `what` is a plan line, e.g. 'push 12 images to the registry'. */
  act(what: string, action: () => Promise<void>): Promise<void>;
  progress(progress: {
    readonly message?: string;
    readonly done?: number;
    readonly total?: number;
    readonly unit?: 'bytes' | 'items';
  }): void;
  warn(message: string): void;
  /**
   * Polls `probe` until it answers ready, at most `timeoutMs`; while waiting, events carry the cause the system gives.
   * @throws BkeError BKE_TIMEOUT with the last cause.
   */
  wait(wait: Wait): Promise<void>;
}

export interface Wait {
  /** What is waited for: 'the registry to answer on 10.0.0.5:40443'. */
  readonly for: string;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
  /** What a person can do meanwhile, e.g. 'journalctl -u bke-registry'. */
  readonly next?: string;
  probe(): Promise<{ readonly ready: true } | { readonly ready: false; readonly cause: string }>;
}

export interface Task<Parameters> {
  /** Stable step name, e.g. 'services/registry'. */
  readonly name: string;
  title(parameters: Parameters): string;
  /** Bound on the whole task. */
  readonly timeoutMs: number;
  run(scope: TaskScope, parameters: Parameters): Promise<void>;
}
