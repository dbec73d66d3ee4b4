// A change: a small record of what should be so on a host, and the contract of the code that makes and unmakes it (ARCHITECTURE.md, "A change").
import type { Host } from '../host.ts';

/** Whose reset undoes it: `node` and `bootstrap-cluster` go always, `enrol` with --all, `services` with --mount. */
export type Scope = 'enrol' | 'node' | 'services' | 'bootstrap-cluster';

export type Change =
  | FileChange
  | DirectoryChange
  | LinkChange
  | ArchiveChange
  | UnitChange
  | UserChange
  | SysctlChange
  | ModuleChange
  | HostsEntryChange
  | ZoneChange
  | BaseChainsChange;

/** Numeric ids, or names that are looked up in the host's passwd and group files when applied. Default root:root. */
export interface Owner {
  readonly user: number | string;
  readonly group: number | string;
}

export interface FileChange {
  readonly kind: 'file';
  readonly path: string;
  readonly mode: number;
  readonly owner?: Owner;
  /** The ledger keeps the digest only, never the content. `source` is a path on the same host, copied by streaming. */
  readonly content:
    | { readonly text: string }
    | { readonly bytes: Uint8Array }
    | { readonly source: string; readonly digest: string };
  /** A unit of the system's own that reads it: where it runs it is restarted when the file changes, and when it is undone. */
  readonly reader?: string;
}

export interface DirectoryChange {
  readonly kind: 'directory';
  readonly path: string;
  readonly mode: number;
  readonly owner?: Owner;
  /** The home of an account: undone, what its user has put there stays, open to root alone. */
  readonly home?: true;
}

export interface LinkChange {
  readonly kind: 'link';
  readonly path: string;
  readonly target: string;
}

/** A .tar, .tar.gz or .tar.zst unpacked into a folder of its own. */
export interface ArchiveChange {
  readonly kind: 'archive';
  readonly source: string;
  readonly digest: string;
  /** Versioned folder, e.g. /usr/local/libexec/bke/containerd-2.3.7; must not hold others' files. */
  readonly destination: string;
  /** Leading path parts dropped from each entry. */
  readonly strip?: number;
}

export interface UnitChange {
  readonly kind: 'unit';
  /** e.g. bke-registry.service */
  readonly name: string;
  /** Text of /etc/systemd/system/<name>. */
  readonly text: string;
  readonly enabled: boolean;
  /** `others`: something else starts it in its own time (kubeadm the kubelet); one that runs is still restarted when it has to be. */
  readonly running: boolean | 'others';
  /** What else the running process depends on (configuration digests): when it differs the unit is restarted. */
  readonly restartKey?: string;
}

/** A system user with a group of the same name, no login shell, no home; or an account that people log in to. */
export interface UserChange {
  readonly kind: 'user';
  readonly name: string;
  /** An account that was there before bke stays as it is. */
  readonly login?: LoginAccount;
}

export interface LoginAccount {
  /** Only named: the directory is a change of its own. */
  readonly home: string;
  /** Default: the system's. */
  readonly shell?: string;
  readonly comment?: string;
  /** Default: a group of the user's own name. Groups that are missing are made. */
  readonly primaryGroup?: string;
  readonly groups: readonly string[];
  /** As /etc/shadow has it; the ledger does not keep it. */
  readonly passwordHash?: string;
  readonly passwordLocked: boolean;
}

/** A live kernel value; the file under /etc/sysctl.d that keeps it over a boot is a FileChange of its own. */
export interface SysctlChange {
  readonly kind: 'sysctl';
  readonly name: string;
  readonly value: string;
}

export interface ModuleChange {
  readonly kind: 'module';
  readonly name: string;
}

/** One line in /etc/hosts, marked as ours. */
export interface HostsEntryChange {
  readonly kind: 'hosts-entry';
  readonly address: string;
  readonly names: readonly string[];
}

/** A directory that others fill. Undone: everything that was not there before goes, through a private mount view, never across a mount. */
export interface ZoneChange {
  readonly kind: 'zone';
  readonly path: string;
}

/** The chains in which iptables hangs rules into the kernel. Undone: those that were not there before and are empty go. */
export interface BaseChainsChange {
  readonly kind: 'base-chains';
}

/** JSON that describes what was there; opaque to all but the kind that made it. */
export type Observed = unknown;

export interface Observation<S = Observed> {
  /** The change is already so: nothing to apply. */
  readonly satisfied: boolean;
  /** What is there now, enough to bring it back (together with the kept original). */
  readonly before: S;
  /** For plans: what apply would do. */
  readonly action: 'create' | 'change' | 'none';
}

export interface UndoOutcome {
  /** undone: back as it was; already: was so; kept: ours but edited by someone, moved to keptAt; left: could not, see why. */
  readonly result: 'undone' | 'already' | 'kept' | 'left';
  readonly why?: string;
  readonly keptAt?: string;
}

/** For plans: what undo would do. */
export interface UndoPlan {
  readonly action: 'remove' | 'change';
  /** e.g. `file /etc/crictl.yaml`, `kernel value net.ipv4.ip_forward back to 0` */
  readonly what: string;
}

/** Originals, and things of ours that someone edited, are stored by the ledger's owner, not by the kinds. */
export interface Keeper {
  /** Copies a file into the ledger's store (0600); returns its digest (sha256:<hex>). */
  keepOriginal(path: string): Promise<string>;
  /** Puts a long text (a zone's inventory) into the store; returns its digest. */
  keepText(text: string): Promise<string>;
  /** Path of a kept original in the store. */
  original(digest: string): string;
  /** Moves a file or link of ours that someone edited below /var/lib/bke-kept/; returns where it is. */
  moveAside(path: string): Promise<string>;
}

/** One time the resource was changed. */
export interface ChangeVersion<C extends Change = Change, S = Observed> {
  /** As `record` made it. */
  readonly change: C;
  readonly before: S;
  /** What was observed right after; absent where bke died between intent and applied. */
  readonly applied?: S;
}

/** What the ledger knows of one resource: its first recorded original, its last recorded change and all versions between. */
export interface ChangeRecord<C extends Change = Change, S = Observed> {
  readonly first: S;
  readonly last: C;
  /** What was observed after the last apply that came to its end; absent where none did. */
  readonly applied?: S;
  /** Oldest first, at least one. Each of them may be what is on the host where bke died in between. */
  readonly versions: readonly ChangeVersion<C, S>[];
}

/** `S` is the kind's own form of what it observes: JSON that only it reads. */
export interface ChangeKind<C extends Change, S = Observed> {
  readonly kind: C['kind'];
  /** Identity of the resource, e.g. `file:/etc/crictl.yaml`. Two changes with one key are versions of one resource. */
  key(change: C): string;
  /** One line for plans: what it is, not what is done to it. */
  describe(change: C): string;
  /** What goes into the ledger: the change without content or secrets. */
  record(change: C): C;
  /** Where it is put; the ledger makes (and records) missing directories above it. undefined where it has no path of its own. */
  path(change: C): string | undefined;
  /** @param previous what the ledger has of the resource, where it is ours already. */
  observe(host: Host, change: C, keeper: Keeper, previous?: ChangeRecord<C, S>): Promise<Observation<S>>;
  /** true where the change must be applied although all that `observe` sees is so already, e.g. a process runs with an older configuration. */
  outdated?(change: C, previous: ChangeRecord<C, S> | undefined): boolean;
  /** A file of ours that was edited since the last apply, and that apply would overwrite. */
  edited?(previous: ChangeRecord<C, S>, now: S): string | undefined;
  apply(host: Host, change: C): Promise<void>;
  /** Why a change that was applied did not take effect, in the system's own words (last log lines). */
  explain?(host: Host, change: C): Promise<readonly string[]>;
  /** Where undo does more than remove what `describe` says. */
  planUndo?(record: ChangeRecord<C, S>): UndoPlan;
  undo(host: Host, record: ChangeRecord<C, S>, keeper: Keeper): Promise<UndoOutcome>;
}
