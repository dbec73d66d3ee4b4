// Applies and undoes changes, each written to the ledger before it happens; holds the lock of the host meanwhile.
import { dirname, join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { Change, Observation, Scope, UndoOutcome } from '../changes/change.ts';
import { removeDrafts } from '../changes/file-state.ts';
import { kindOf } from '../changes/kinds.ts';
import { removeTree } from '../changes/remove-tree.ts';
import type { FileType, Host, LeftPath } from '../host.ts';
import { encodeLine, type LedgerContent, type LedgerEntry, ledgerFormat, readEntries } from './entries.ts';
import { makeDirectories, PreviewKeeper, rootOnlyDirectory, StoreKeeper } from './keeper.ts';
import { holdsOnlyKept } from './kept-content.ts';
import type { ApplyResult, Ledger, LedgerOptions, LedgerRemoval, LedgerResource } from './contract.ts';
import { ledgerPath, machineIdOf, ViewOfLedger, weighed } from './ledger-view.ts';
import type { Life } from './lives.ts';
import { type HostLock, lockDirectory, takeLock } from './lock.ts';

type WriterOptions = LedgerOptions & { readonly stateDir: string };

interface Opened {
  readonly content: LedgerContent | undefined;
  readonly machineId: string;
  readonly lock: HostLock;
}

const stateDirectory = { mode: 0o755, uid: 0, gid: 0 };

export class LedgerWriter extends ViewOfLedger implements Ledger {
  readonly #options: WriterOptions;
  readonly #machineId: string;
  readonly #lock: HostLock;
  readonly #keeper: StoreKeeper;
  readonly #path: string;
  #tornAt: number | undefined;
  #begun = false;
  #closed = false;
  #isEmpty: boolean;
  #held = '';
  #seq: number;

  private constructor(host: Host, options: WriterOptions, opened: Opened) {
    super(host, opened.content, opened.machineId);
    this.#options = options;
    this.#machineId = opened.machineId;
    this.#lock = opened.lock;
    this.#path = ledgerPath(options.stateDir);
    this.#keeper = new StoreKeeper(host, {
      stateDir: options.stateDir,
      operation: options.operation,
      now: () => new Date(),
    });
    const { content } = opened;
    this.#seq = content?.nextSeq ?? 1;
    this.#isEmpty = content === undefined || content.wholeBytes === 0;
    this.#tornAt = content !== undefined && content.wholeBytes < content.bytes ? content.wholeBytes : undefined;
  }

  static async open(host: Host, options: WriterOptions): Promise<LedgerWriter> {
    const { stateDir } = options;
    await makeDirectories(host, stateDir, stateDirectory);
    const lock = await takeLock(host, lockDirectory(stateDir), options);
    try {
      const content = await readEntries(host, ledgerPath(stateDir));
      return new LedgerWriter(host, options, { content, machineId: await machineIdOf(host), lock });
    } catch (thrown) {
      await lock.release();
      throw thrown;
    }
  }

  async apply(scope: Scope, change: Change): Promise<ApplyResult> {
    const path = kindOf(change).path(change);
    if (path !== undefined) await this.#applyDirectories(scope, dirname(path));
    return this.#applyOne(scope, change);
  }

  /** Missing directories from the top down; a claim on those above that are ours, so that they outlive the other scope. */
  async #applyDirectories(scope: Scope, path: string): Promise<void> {
    if (dirname(path) !== path) await this.#applyDirectories(scope, dirname(path));
    const plain: Change = { kind: 'directory', path, mode: 0o755 };
    const life = this.lives.get(kindOf(plain).key(plain));
    const there = await this.host.files.stat(path);
    if (there !== undefined) await this.#requireDirectory(path, there.type);
    if (there === undefined || life?.pending === true) await this.#applyOne(scope, life?.record.last ?? plain);
    else await this.#claim(scope, life);
  }

  /** Before anything is written down: below something that is no directory nothing can be put. */
  async #requireDirectory(path: string, type: FileType): Promise<void> {
    const real = type === 'link' ? await this.host.files.realPath(path) : path;
    if (real !== undefined && (await this.host.files.stat(real))?.type === 'directory') return;
    throw new BkeError('BKE_PATH_IN_THE_WAY', `${path} is a ${type}, and a directory is needed there`, {
      host: this.host.name,
      hint: 'Move it away, then run the same command again.',
    });
  }

  async #applyOne(scope: Scope, change: Change): Promise<ApplyResult> {
    if (this.#options.signal?.aborted === true) throw new BkeError('BKE_CANCELLED', 'cancelled before the next change');
    const kind = kindOf(change);
    const life = this.lives.get(kind.key(change));
    // The first original wins: once it is ours, nothing more is kept.
    const keeper = life === undefined ? this.#keeper : new PreviewKeeper(this.host);
    const seen = weighed(change, await kind.observe(this.host, change, keeper, life?.record), life?.record);
    if (seen.satisfied) return this.#adopt(scope, life, seen);
    const keptAt = await this.#keepEdited(life, change, seen);
    const id = this.lives.nextId;
    const intent = { type: 'intent', id, scope, key: kind.key(change), before: seen.before } as const;
    await this.#append({ ...intent, change: kind.record(change), time: new Date().toISOString() });
    await kind.apply(this.host, change);
    await this.#verify(change, id);
    return keptAt === undefined ? { changed: true } : { changed: true, keptAt };
  }

  /** It is so already. What is not ours stays out of the ledger; what is may need its end or its claim written. */
  async #adopt(scope: Scope, life: Life | undefined, seen: Observation): Promise<ApplyResult> {
    if (life?.pending === true) await this.#append({ type: 'applied', id: life.lastId, observed: seen.before });
    await this.#claim(scope, life);
    return { changed: false };
  }

  async #claim(scope: Scope, life: Life | undefined): Promise<void> {
    if (life === undefined || life.scopes.has(scope)) return;
    await this.#append({ type: 'claim', key: life.key, scope });
  }

  async #keepEdited(life: Life | undefined, change: Change, seen: Observation): Promise<string | undefined> {
    const edited = life === undefined ? undefined : kindOf(change).edited?.(life.record, seen.before);
    return edited === undefined ? undefined : this.#keeper.copyAside(edited);
  }

  async #verify(change: Change, id: number): Promise<void> {
    const kind = kindOf(change);
    const record = this.lives.get(kind.key(change))?.record;
    const seen = await kind.observe(this.host, change, new PreviewKeeper(this.host), record);
    if (seen.satisfied) return this.#append({ type: 'applied', id, observed: seen.before });
    throw new BkeError('BKE_CHANGE_NOT_APPLIED', `${kind.describe(change)}: was changed, and is not so`, {
      host: this.host.name,
      details: (await kind.explain?.(this.host, change)) ?? [],
    });
  }

  async undo(resource: LedgerResource, keep: readonly string[] = []): Promise<UndoOutcome> {
    const life = this.lives.get(resource.key);
    if (life === undefined) return { result: 'already' };
    if (resource.sharedWith.length > 0) return this.#release(life, resource);
    await this.#append({ type: 'undo', key: life.key, time: new Date().toISOString() });
    const outcome = await this.#letGo(life, await this.#unmake(life), keep);
    const end = { type: 'undone', key: life.key, outcome } as const;
    if (outcome.keptAt === undefined) this.#hold(end);
    else await this.#append(end);
    return outcome;
  }

  async #release(life: Life, resource: LedgerResource): Promise<UndoOutcome> {
    for (const scope of life.scopes) {
      if (!resource.sharedWith.includes(scope)) await this.#append({ type: 'release', key: life.key, scope });
    }
    return { result: 'already', why: `still needed by ${resource.sharedWith.join(', ')}` };
  }

  async #unmake(life: Life): Promise<UndoOutcome> {
    try {
      return await kindOf(life.record.last).undo(this.host, life.record, this.#keeper);
    } catch (thrown) {
      if (!(thrown instanceof BkeError) || thrown.code === 'BKE_CANCELLED') throw thrown;
      return { result: 'left', why: thrown.message };
    }
  }

  async #letGo({ record: { last } }: Life, outcome: UndoOutcome, keep: readonly string[]): Promise<UndoOutcome> {
    if (outcome.result !== 'left' || last.kind !== 'directory') return outcome;
    if (!(await holdsOnlyKept(this.host, last.path, keep))) return outcome;
    return { result: 'kept', why: 'only what stays is in it' };
  }

  async finish(): Promise<void> {
    if (!this.#begun) return;
    await this.#append({ type: 'finished', operation: this.#options.operation, time: new Date().toISOString() });
  }

  async remove(folders: readonly string[] = []): Promise<LedgerRemoval> {
    const open = this.resources();
    if (open.length > 0) return { removed: false, left: open.map(({ key }) => ({ path: key, why: 'not undone' })) };
    const { stateDir } = this.#options;
    const left: LeftPath[] = [];
    for (const folder of [...folders, 'ledger']) {
      left.push(...(await removeTree(this.host, join(stateDir, folder))).left);
    }
    this.#held = '';
    this.setExists((await this.host.files.stat(this.#path)) !== undefined);
    this.#isEmpty = !this.exists;
    if (this.#isEmpty) this.#seq = 1;
    this.#begun = false;
    const foreign = (await this.host.files.list(stateDir)).filter((name) => name !== 'lock' && name !== 'ledger');
    left.push(...foreign.map((name) => ({ path: join(stateDir, name), why: 'not part of the ledger' })));
    return { removed: !this.exists, left };
  }

  async close(): Promise<void> {
    await this.#writeHeld();
    this.#closed = true;
    await this.#lock.release();
    if (this.exists) return;
    await removeDrafts(this.host, dirname(this.#path));
    for (const path of [lockDirectory(this.#options.stateDir), this.#options.stateDir]) {
      if ((await this.host.files.list(path)).length > 0) return;
      // Another bke may take its lock there just now: then it is not empty any more.
      await this.host.files.remove(path).catch(() => undefined);
    }
  }

  async #append(entry: LedgerEntry): Promise<void> {
    // A step that was given up on may still be at work; what can't be recorded under the lock is not done.
    if (this.#closed) throw new BkeError('BKE_CANCELLED', 'the operation is over');
    if (!this.#begun) await this.#begin();
    await this.#write(entry);
    this.lives.take(entry);
  }

  /** Nothing is written before there is something to write: a run that changes nothing leaves no trace. */
  async #begin(): Promise<void> {
    const { operation, command, binary, stateDir } = this.#options;
    const time = new Date().toISOString();
    const brought = binary === undefined ? {} : { binary };
    if (this.#tornAt !== undefined) await this.host.files.truncate(this.#path, this.#tornAt);
    this.#tornAt = undefined;
    if (this.#isEmpty) {
      await makeDirectories(this.host, join(stateDir, 'ledger'), rootOnlyDirectory);
      await this.#write({ type: 'ledger', format: ledgerFormat, machineId: this.#machineId, time, ...brought });
      this.#isEmpty = false;
      this.setExists(true);
    }
    await this.#write({ type: 'run', operation, command, time, ...brought });
    this.#begun = true;
  }

  /** Goes to the disk with the next line, which saves every second sync of a reset. Where it is lost the resource is undone again, and found undone. */
  #hold(entry: LedgerEntry): void {
    this.#held += encodeLine(entry, this.#seq);
    this.#seq += 1;
    this.lives.take(entry);
  }

  async #write(entry: LedgerEntry): Promise<void> {
    await this.host.files.append(this.#path, this.#held + encodeLine(entry, this.#seq));
    this.#held = '';
    this.#seq += 1;
  }

  async #writeHeld(): Promise<void> {
    if (this.#held === '' || !this.exists) return;
    // What it tells is found out again.
    await this.host.files.append(this.#path, this.#held).catch(() => undefined);
    this.#held = '';
  }
}
