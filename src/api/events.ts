// The typed events of an operation: the journal, every renderer and later the BKEOperation ring are made of them (docs/adr/0004-progress-from-events.md).
import type { ErrorReport } from '../lib/errors.ts';

export type OperationAction =
  | 'init'
  | 'start'
  | 'stop'
  | 'reset'
  | 'bundle.build'
  | 'bundle.verify'
  | 'bundle.load'
  | 'host.check'
  | 'host.command'
  | 'agent.install'
  | 'cluster.create';

export type Outcome = 'done' | 'failed' | 'cancelled';

/** Where a host stands when an operation ends. */
export interface HostState {
  /** Absent for work that belongs to no host. */
  readonly host?: string;
  /** stopped: cancelled between two steps; untouched: nothing was started there. */
  readonly state: 'done' | 'failed' | 'stopped' | 'untouched';
  /** The last step that ran, and its phase. */
  readonly phase?: string;
  readonly step?: string;
  readonly changed: boolean;
  readonly error?: ErrorReport;
}

/** Where an event happened. `host` is absent for work that belongs to no host. */
export interface StepPlace {
  readonly phase: string;
  readonly step: string;
  readonly host?: string;
}

export type EventBody =
  | {
      readonly type: 'operation.started';
      readonly action: OperationAction;
      readonly target: string;
      readonly hosts: readonly string[];
      readonly dryRun: boolean;
      readonly phases: readonly { readonly id: string; readonly title: string }[];
    }
  | {
      readonly type: 'phase.started';
      readonly phase: string;
      readonly title: string;
      readonly hosts: readonly string[];
    }
  | { readonly type: 'phase.finished'; readonly phase: string; readonly outcome: Outcome; readonly durationMs: number }
  | (StepPlace & {
      readonly type: 'step.started';
      readonly title: string;
      readonly attempt: number;
      readonly timeoutMs: number;
    })
  /** `done` of `total` in `unit`, where the work can be counted. */
  | (StepPlace & {
      readonly type: 'step.progress';
      readonly message?: string;
      readonly done?: number;
      readonly total?: number;
      readonly unit?: 'bytes' | 'items';
    })
  /** Never silent: what is waited for, since when, the cause the system itself gives, and what a person can do. */
  | (StepPlace & {
      readonly type: 'step.waiting';
      readonly for: string;
      readonly since: string;
      readonly cause?: string;
      readonly next?: string;
    })
  /** In a dry run: one change or action the step would make. */
  | (StepPlace & {
      readonly type: 'step.planned';
      readonly action: 'create' | 'change' | 'remove' | 'run' | 'keep';
      readonly what: string;
    })
  /** `changed: false`: everything was already so. `found`: the word for it where the step only finds something out ('proven'). */
  | (StepPlace & {
      readonly type: 'step.finished';
      readonly changed: boolean;
      readonly found?: string;
      readonly durationMs: number;
    })
  | (StepPlace & { readonly type: 'step.failed'; readonly error: ErrorReport; readonly durationMs: number })
  | { readonly type: 'note'; readonly level: 'info' | 'warning'; readonly message: string; readonly host?: string }
  | {
      readonly type: 'operation.finished';
      readonly outcome: Outcome;
      readonly changed: boolean;
      readonly hosts: readonly HostState[];
      readonly error?: ErrorReport;
      /** Commands a person is likely to type next. */
      readonly next: readonly string[];
      readonly durationMs: number;
    };

export interface EventHeader {
  /** Counts from 1 without gaps in one operation. */
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  readonly operation: string;
}

export type OperationEvent = EventHeader & EventBody;

/** Gets events as they happen; must not throw and must not block. */
export type EventSink = (event: OperationEvent) => void;
