// What the lines of a ledger add up to: for each resource the life it leads now, from the first intent to its undoing.
import type { ChangeRecord, ChangeVersion, Observed, Scope } from '../changes/change.ts';
import type { LedgerEntry } from './entries.ts';

interface Version {
  readonly id: number;
  readonly change: ChangeVersion['change'];
  readonly before: Observed;
  applied?: Observed;
}

export interface Life {
  readonly key: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly record: ChangeRecord;
  /** Of the last version. */
  readonly lastId: number;
  /** bke died between the last intent and its end. */
  readonly pending: boolean;
}

interface OpenLife {
  readonly key: string;
  readonly order: number;
  readonly scopes: Set<Scope>;
  readonly versions: [Version, ...Version[]];
}

function lastOf(life: OpenLife): Version {
  return life.versions.at(-1) ?? life.versions[0];
}

function toLife(open: OpenLife): Life {
  const last = lastOf(open);
  const finished = open.versions.findLast((version) => version.applied !== undefined);
  const applied = finished === undefined ? {} : { applied: finished.applied };
  return {
    key: open.key,
    scopes: open.scopes,
    lastId: last.id,
    pending: last.applied === undefined,
    record: { first: open.versions[0].before, last: last.change, ...applied, versions: open.versions },
  };
}

export class Lives {
  readonly #open = new Map<string, OpenLife>();
  readonly #ended: ChangeRecord[] = [];
  #lastId = 0;

  get nextId(): number {
    return this.#lastId + 1;
  }

  take(entry: LedgerEntry): void {
    if (entry.type === 'intent') this.#begin(entry);
    else if (entry.type === 'applied') this.#settle(entry.id, entry.observed);
    else if (entry.type === 'claim') this.#open.get(entry.key)?.scopes.add(entry.scope);
    else if (entry.type === 'release') this.#open.get(entry.key)?.scopes.delete(entry.scope);
    else if (entry.type === 'undone' && entry.outcome.result !== 'left') this.#end(entry.key);
  }

  /** Of lives that were undone. */
  get ended(): readonly ChangeRecord[] {
    return this.#ended;
  }

  get(key: string): Life | undefined {
    const open = this.#open.get(key);
    return open === undefined ? undefined : toLife(open);
  }

  /** The order in which things were first made, reversed. */
  lastFirst(): Life[] {
    return [...this.#open.values()].sort((a, b) => b.order - a.order).map(toLife);
  }

  #begin(entry: Extract<LedgerEntry, { type: 'intent' }>): void {
    const version: Version = { id: entry.id, change: entry.change, before: entry.before };
    this.#lastId = Math.max(this.#lastId, entry.id);
    const open = this.#open.get(entry.key);
    if (open === undefined) {
      const life: OpenLife = { key: entry.key, order: entry.id, scopes: new Set([entry.scope]), versions: [version] };
      this.#open.set(entry.key, life);
      return;
    }
    open.versions.push(version);
    open.scopes.add(entry.scope);
  }

  #end(key: string): void {
    const open = this.#open.get(key);
    if (open !== undefined) this.#ended.push(toLife(open).record);
    this.#open.delete(key);
  }

  #settle(id: number, observed: Observed): void {
    for (const life of this.#open.values()) {
      const version = life.versions.findLast((candidate) => candidate.id === id);
      if (version !== undefined) version.applied = observed;
    }
  }
}
