// What every step of a reset works with.
import type { Ledger } from '../../host/ledger/ledger.ts';
import type { Host } from '../../host/host.ts';
import type { TaskScope } from '../task.ts';
import type { KeptItem, Left, ResetFlags, ResetPlan, Selection } from './reset-plan.ts';

export interface ResetScope extends TaskScope {
  readonly run: ResetRun;
}

/** One reset from the plan to the second look; steps add what they could not take away and why. */
export interface ResetRun {
  readonly host: Host;
  readonly flags: ResetFlags;
  readonly selection: Selection;
  readonly ledger: Ledger;
  /** pid of this process. */
  readonly self: number;
  readonly left: Left[];
  readonly kept: KeptItem[];
  /** Tables iptables deletions emptied, as `family name`, e.g. `ip filter`. */
  readonly touchedTables: Set<string>;
}

/** The run that a plan begins: what the plan could not take or keeps is told at the end with the rest. */
export function resetRun(about: Pick<ResetRun, 'host' | 'ledger' | 'flags'>, plan: ResetPlan): ResetRun {
  const { selection, heldBack, kept } = plan;
  return { ...about, selection, self: process.pid, left: [...heldBack], kept: [...kept], touchedTables: new Set() };
}
