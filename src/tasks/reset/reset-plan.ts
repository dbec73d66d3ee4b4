// What a reset is asked for, what it finds, and what it says it will do: the shapes the parts of a reset share.
import type { Scope } from '../../host/changes/change.ts';
import type { DamagedLine } from '../../host/ledger/entries.ts';
import type { LedgerResource } from '../../host/ledger/ledger.ts';
import type { FoundPath, HostState } from '../../host/state/state.ts';
import type { Trace } from './left-record.ts';
import type { UnrecordedLines } from './unrecorded.ts';

export interface ResetFlags {
  /** Also what enrolled the host: its agent, its hosts entry. */
  readonly all: boolean;
  /** Also the local services and their data. */
  readonly mount: boolean;
  /** Also the data of users' volumes. */
  readonly purgeVolumes: boolean;
}

/** Which scopes of the ledger a reset undoes. */
export function resetScopes(flags: ResetFlags): Scope[] {
  return [
    'node',
    'bootstrap-cluster',
    ...(flags.all ? (['enrol'] as const) : []),
    ...(flags.mount ? (['services'] as const) : []),
  ];
}

export type ItemGroup = 'units' | 'pods' | 'mounts' | 'data' | 'network' | 'record' | 'ledger';

export interface PlanItem {
  readonly group: ItemGroup;
  readonly action: 'stop' | 'end' | 'unmount' | 'remove' | 'change' | 'release';
  readonly what: string;
  /** Why it is ours to take away; absent where its group says it. */
  readonly why?: string;
  /** Comes and goes with every pod and holds nobody's data: a new one is nothing that a person has to know. */
  readonly passing?: true;
}

export interface KeptItem {
  readonly what: string;
  readonly why: string;
}

export interface Refusal {
  readonly what: string;
  readonly why: string;
  readonly hint: string;
}

/** Something that should have gone and did not. */
export interface Left {
  readonly what: string;
  readonly why: string;
  /** The command that shows it. */
  readonly see: string;
  /** How a later reset finds it again where what proves it is gone by then; absent where it is found in any case. */
  readonly trace?: Trace;
}

/** What the parts of a reset work on, apart from what each of them reads again for itself. */
export interface Selection {
  /** Directories below which everything is unmounted, canonical. */
  readonly mountTops: readonly string[];
  /** Mount points that stay: the user's, by /etc/fstab or because they were there before bke. */
  readonly keptMounts: ReadonlySet<string>;
  readonly units: readonly string[];
  readonly paths: readonly FoundPath[];
  readonly kubeconfigs: readonly string[];
  /** Lines of bke's in /etc/hosts and its user, where no ledger answers for them. */
  readonly unrecorded: UnrecordedLines;
  /** In the order they are undone. */
  readonly resources: readonly LedgerResource[];
  /** Kubernetes' paths the ledger answers for: what was there before bke stays there. */
  readonly coveredPaths: ReadonlySet<string>;
}

export interface ResetPlan {
  readonly items: readonly PlanItem[];
  /** Not ours, or asked to be kept: no fault of the reset. */
  readonly kept: readonly KeptItem[];
  /** Ours, but taking it away would harm others: the reset is not complete. */
  readonly heldBack: readonly Left[];
  readonly refusals: readonly Refusal[];
  readonly selection: Selection;
  /** The ledger was written on another machine: this host is a copy of it. */
  readonly otherMachine: boolean;
  /** Lines of the ledger that can't be used: what they told is looked for by name and mark. */
  readonly damaged: readonly DamagedLine[];
  /** Scopes the reset was not asked for and that have something here. */
  readonly standing: readonly Scope[];
  /** What a person should know before the answer: who goes on counting on this host. */
  readonly notes: readonly string[];
}

export interface PlanInput {
  readonly flags: ResetFlags;
  readonly state: HostState;
  /** Nothing where the ledger answers for them. */
  readonly unrecorded: UnrecordedLines;
  readonly ledger: {
    readonly otherMachine: boolean;
    /** Of the scopes that are undone, in order. */
    readonly selected: readonly LedgerResource[];
    /** Of all scopes. */
    readonly all: readonly LedgerResource[];
    /** Zones and directories that an earlier reset, or an earlier part of this one, has given back. */
    readonly givenBack: readonly string[];
    /** Mount points that were in a zone before bke. */
    readonly earlierMounts: readonly string[];
  };
}
