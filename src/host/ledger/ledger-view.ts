// Reads a ledger without its lock: what is ours on this host, what would be changed.
import { join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { Change, ChangeRecord, Observation, Scope } from '../changes/change.ts';
import { kindOf, undoPlanOf } from '../changes/kinds.ts';
import type { Host } from '../host.ts';
import { type DamagedLine, type LedgerContent, type LedgerEntry, ledgerFormat, readEntries } from './entries.ts';
import { PreviewKeeper } from './keeper.ts';
import type { LedgerResource, LedgerView } from './contract.ts';
import { type Life, Lives } from './lives.ts';

export function ledgerPath(stateDir: string): string {
  return join(stateDir, 'ledger', 'ledger.jsonl');
}

export async function machineIdOf(host: Host): Promise<string> {
  return ((await host.files.read('/etc/machine-id')) ?? '').toString().trim();
}

/** `observe`, and `satisfied` only where nothing else makes it worth applying. */
export function weighed(change: Change, seen: Observation, previous: ChangeRecord | undefined): Observation {
  const kind = kindOf(change);
  if (!seen.satisfied || kind.outdated?.(change, previous) !== true) return seen;
  return { ...seen, satisfied: false, action: previous === undefined ? 'create' : 'change' };
}

function checkFormat(host: Host, entries: readonly LedgerEntry[]): void {
  const format = entries.find((entry) => entry.type === 'ledger')?.format ?? ledgerFormat;
  if (format <= ledgerFormat) return;
  throw new BkeError('BKE_LEDGER_NEWER', `the ledger has format ${format}, this bke knows ${ledgerFormat}`, {
    host: host.name,
    hint: 'Use the newer bke that wrote it.',
  });
}

export class ViewOfLedger implements LedgerView {
  protected readonly host: Host;
  protected readonly lives = new Lives();
  readonly damaged: readonly DamagedLine[];
  readonly otherMachine: boolean;
  readonly binaries: readonly string[];
  readonly kept: readonly { readonly key: string; readonly keptAt: string }[];
  #exists: boolean;

  protected constructor(host: Host, content: LedgerContent | undefined, machineId: string) {
    this.host = host;
    const entries = content?.entries ?? [];
    checkFormat(host, entries);
    for (const entry of entries) this.lives.take(entry);
    this.#exists = content !== undefined;
    this.damaged = content?.damaged ?? [];
    this.otherMachine = entries.some((entry) => entry.type === 'ledger' && entry.machineId !== machineId);
    this.kept = entries.flatMap((entry) => {
      if (entry.type !== 'undone' || entry.outcome.keptAt === undefined) return [];
      return [{ key: entry.key, keptAt: entry.outcome.keptAt }];
    });
    const binaries = entries.map((entry) => ('binary' in entry ? entry.binary : undefined));
    this.binaries = [...new Set(binaries.filter((path) => path !== undefined))];
  }

  static async read(host: Host, stateDir: string): Promise<ViewOfLedger> {
    return new ViewOfLedger(host, await readEntries(host, ledgerPath(stateDir)), await machineIdOf(host));
  }

  get exists(): boolean {
    return this.#exists;
  }

  protected setExists(exists: boolean): void {
    this.#exists = exists;
  }

  get scopes(): readonly Scope[] {
    return [...new Set(this.lives.lastFirst().flatMap((life) => [...life.scopes]))].sort();
  }

  get ended(): readonly ChangeRecord[] {
    return this.lives.ended;
  }

  resources(scopes?: readonly Scope[]): LedgerResource[] {
    const wanted = (life: Life): boolean => scopes === undefined || scopes.some((scope) => life.scopes.has(scope));
    return this.lives
      .lastFirst()
      .filter(wanted)
      .map((life) => ({
        key: life.key,
        scopes: [...life.scopes],
        sharedWith: scopes === undefined ? [] : [...life.scopes].filter((scope) => !scopes.includes(scope)),
        description: kindOf(life.record.last).describe(life.record.last),
        undo: undoPlanOf(life.record),
        record: life.record,
      }));
  }

  async observe(change: Change): Promise<Observation> {
    const kind = kindOf(change);
    const previous = this.lives.get(kind.key(change))?.record;
    return weighed(change, await kind.observe(this.host, change, new PreviewKeeper(this.host), previous), previous);
  }
}
