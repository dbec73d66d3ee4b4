// What an operation is made of as it is looked at: chains of steps, each with how it is now.
import type { OperationAction } from '../../api/events.ts';
import type { ErrorReport } from '../../lib/errors.ts';

/** What a step looks like now. */
export type Look =
  | { readonly state: 'done' }
  | {
      readonly state: 'waiting';
      /** 'the agent of w1' */
      readonly for: string;
      /** In the system's own words. */
      readonly cause: string;
      /** What a person can do meanwhile. */
      readonly next?: string;
      /** What is wrong. */
      readonly trouble?: Trouble;
      /** What was wrong is tried again now: that does not mean that it is well. */
      readonly retries?: boolean;
      /** It cannot come true any more because of another failure: nobody waits for it. */
      readonly blocked?: boolean;
    };

export interface Trouble {
  readonly error: ErrorReport;
  /** As long as that it may last before the step has failed. 0: nothing but a person changes it. */
  readonly graceMs: number;
}

export interface LookedStep {
  readonly phase: string;
  readonly step: string;
  readonly title: string;
  readonly timeoutMs: number;
  readonly look: Look;
}

export interface Chain {
  /** Of the host, or of the entry in the status where the work belongs to none. */
  readonly name: string;
  readonly host?: string;
  readonly steps: readonly LookedStep[];
}

export interface OperationFrame {
  readonly action: OperationAction;
  readonly target: string;
  readonly phases: readonly { readonly id: string; readonly title: string }[];
  /** Commands a person is likely to type after it. */
  readonly next: (outcome: 'done' | 'failed' | 'cancelled') => readonly string[];
}

export type Waiting = Look & { readonly state: 'waiting' };
