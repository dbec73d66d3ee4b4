// An operation as data: phases over hosts, each host with its chain of steps.
import type { EventBody, EventSink, HostState, OperationAction, Outcome, StepPlace } from '../api/events.ts';
import type { Journal } from './journal.ts';

/** What the runner hands to the maker of scopes for one step. */
export interface StepBinding {
  readonly place: StepPlace;
  readonly dryRun: boolean;
  /** Aborted when the operation is cancelled or the step's time is over. */
  readonly signal: AbortSignal;
  emit(body: StepEvent): void;
  /** The step has changed something (in a dry run: would change something). */
  changed(): void;
  /** What the step waits for now; undefined when the wait is over. A deadline's error names it. */
  waitsFor(wait: WaitState | undefined): void;
}

export interface WaitState {
  readonly for: string;
  readonly cause?: string | undefined;
  readonly next?: string | undefined;
}

/** An event without its place and header. */
export type StepEvent =
  | Placeless<Extract<EventBody, { type: 'step.progress' | 'step.waiting' | 'step.planned' }>>
  | Omit<Extract<EventBody, { type: 'note' }>, 'host'>;

type Placeless<Body> = Body extends unknown ? Omit<Body, keyof StepPlace> : never;

export interface Step<Scope> {
  /** Stable name, e.g. 'services/registry'. */
  readonly name: string;
  readonly title: string;
  /** Bound on the whole step: its signal is aborted then, and it fails with BKE_TIMEOUT. */
  readonly timeoutMs: number;
  /** How a step ends well that only finds something out, e.g. 'proven'; default: whether it changed something. */
  readonly found?: string;
  run(scope: Scope): Promise<void>;
}

/** What is done to one host in one phase, in this order. Without a host: work that belongs to none. */
export interface HostChain<Scope> {
  readonly host?: string;
  readonly steps: readonly Step<Scope>[];
}

export interface Phase<Scope> {
  /** Stable name, e.g. 'services'. */
  readonly id: string;
  readonly title: string;
  readonly chains: readonly HostChain<Scope>[];
  /** Starts only when every host is through with the phases before it. Else each host goes on by itself. */
  readonly barrier?: boolean;
  /** A failure of one host in this phase keeps the others from starting another step, and later phases from starting. */
  readonly stopOnFailure?: boolean;
  /** Hosts in this phase at once, where that is fewer than the operation's own limit (uploads, disruption). */
  readonly concurrency?: number;
}

export interface OperationOptions<Scope> {
  readonly id: string;
  readonly action: OperationAction;
  /** What it is done to, for people: 'this host', 'cluster prod'. */
  readonly target: string;
  readonly phases: readonly Phase<Scope>[];
  /** Hosts worked on at once. */
  readonly concurrency: number;
  readonly dryRun: boolean;
  /** Cancels: running steps are told, no other step starts. */
  readonly signal: AbortSignal;
  readonly sink: EventSink;
  readonly journal?: Journal | undefined;
  readonly now: () => Date;
  readonly createScope: (binding: StepBinding) => Scope;
  /** Commands a person is likely to type next. */
  readonly next?: ((outcome: Outcome) => readonly string[]) | undefined;
  /** After a step's time is over it has this long to give up by itself. Default 5000. */
  readonly graceMs?: number;
}

export interface OperationResult {
  readonly id: string;
  readonly outcome: Outcome;
  /** Whether anything was changed (in a dry run: would be). */
  readonly changed: boolean;
  readonly hosts: readonly HostState[];
  /** What failed, as it was thrown, a BkeError with its host where it is one. */
  readonly errors: readonly unknown[];
  readonly durationMs: number;
}
