// What the ledger of a host offers to tasks, reset and status (ARCHITECTURE.md, "A change").
import type { Change, ChangeRecord, Observation, Scope, UndoOutcome, UndoPlan } from '../changes/change.ts';
import type { LeftPath } from '../host.ts';
import type { DamagedLine } from './entries.ts';

export interface LedgerOptions {
  /** Id of the operation that makes the changes. */
  readonly operation: string;
  /** What the user typed, for the lock and the ledger, without secrets: `bke init`. */
  readonly command: string;
  /** Default /var/lib/bke. */
  readonly stateDir?: string;
  /** Temporary path this binary was brought to over SSH; goes into the first line. */
  readonly binary?: string;
  readonly signal?: AbortSignal;
  /** A line for a person where a program that an earlier bke left running is waited for. */
  readonly tell?: (message: string) => void;
}

export interface ApplyResult {
  readonly changed: boolean;
  /** Someone had edited what is ours; a copy of that is here. */
  readonly keptAt?: string;
}

/** Something on the host that is ours, as far as the ledger knows. */
export interface LedgerResource {
  /** e.g. `file:/etc/crictl.yaml` */
  readonly key: string;
  /** Who needs it. */
  readonly scopes: readonly Scope[];
  /** Of these scopes the caller asked for none: undo only gives up the claim of the others while this is not empty. */
  readonly sharedWith: readonly Scope[];
  /** What it is, in one line. */
  readonly description: string;
  /** What undoing it does, for plans. */
  readonly undo: UndoPlan;
  readonly record: ChangeRecord;
}

/** What can be known of a ledger without its lock. */
export interface LedgerView {
  /** false: this host has no ledger. */
  readonly exists: boolean;
  /** The ledger was written on a machine with another id: this host is a copy of it. */
  readonly otherMachine: boolean;
  /** Lines that can't be used; the rest is. A torn last line (a crash while it was written) is no damage. A lost end can't be seen here. */
  readonly damaged: readonly DamagedLine[];
  /** Where edited files of ours were moved to when they were undone, while this ledger lasts. */
  readonly kept: readonly { readonly key: string; readonly keptAt: string }[];
  /** What was undone while this ledger lasts: what was there before it still counts. */
  readonly ended: readonly ChangeRecord[];
  /** Scopes that have something here. */
  readonly scopes: readonly Scope[];
  /** Temporary paths of binaries that were brought here for a run. */
  readonly binaries: readonly string[];
  /** Net effect per resource, last made first: the order to undo them in. All scopes unless told. */
  resources(scopes?: readonly Scope[]): LedgerResource[];
  /** For plans and drift: changes nothing and keeps nothing. */
  observe(change: Change): Promise<Observation>;
}

export interface LedgerRemoval {
  readonly removed: boolean;
  /** What is still open, could not be removed, or is of someone else. */
  readonly left: readonly LeftPath[];
}

export interface Ledger extends LedgerView {
  /**
   * Observes; where it is not so yet: writes the intent, applies, observes again, writes that it was applied. Directories missing above it
   * are changes of their own (0755, root). What was so before us is not ours and is not recorded.
   * @throws BkeError BKE_CHANGE_NOT_APPLIED where it is still not so afterwards; whatever applying throws.
   */
  apply(scope: Scope, change: Change): Promise<ApplyResult>;
  /**
   * Never throws for what the host refuses: that is `left`.
   * @param keep paths that stay with all that is in them: a directory that holds nothing else is let go of, and told as kept.
   */
  undo(resource: LedgerResource, keep?: readonly string[]): Promise<UndoOutcome>;
  /** Writes that the run came to its end. */
  finish(): Promise<void>;
  /**
   * Takes the ledger away: it goes last, and only where nothing of ours is left to undo. `folders` of the state directory go before it.
   * The state directory itself goes at close() when nothing else is in it; what edited files were kept in /var/lib/bke-kept stays.
   */
  remove(folders?: readonly string[]): Promise<LedgerRemoval>;
  /** Gives up the lock; leaves nothing behind where nothing was recorded. After it nothing is changed or undone (BKE_CANCELLED). */
  close(): Promise<void>;
}
