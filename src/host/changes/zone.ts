// The change kind `zone`: a directory that others fill. Recorded is what was there before; undone, everything else goes.
import { join } from 'node:path';
import { listedShort } from '../../lib/text.ts';
import { BkeError } from '../../lib/errors.ts';
import type { FileAttributes, Host, TreeEntry } from '../host.ts';
import type { ChangeKind, ChangeRecord, Keeper, Observation, UndoOutcome, ZoneChange } from './change.ts';
import { removeTree } from './remove-tree.ts';

/** Larger files are known again by size, time and inode: reading a user's images would take minutes. */
const digestUpTo = 16 << 20;

interface ZoneState {
  /** Where it really is: a zone may be a link to another disk. undefined: nothing was there. */
  readonly realPath?: string;
  readonly mounted: boolean;
  /** Of the directory itself: those who fill it may change them (containerd makes its own private). */
  readonly attributes?: FileAttributes;
  readonly entries: number;
  /** Digest of the kept inventory. */
  readonly inventory: string;
}

/** What tells that a thing is still what it was. */
function fingerprint(entry: TreeEntry): string {
  const { stat } = entry;
  if (stat === undefined || entry.type === 'directory') return entry.type;
  if (entry.target !== undefined) return `link ${entry.target}`;
  return entry.digest ?? `${entry.type} ${stat.size} ${stat.mtimeNs} ${entry.inode ?? ''}`;
}

type Inventory = ReadonlyMap<string, string>;

function toText(inventory: Inventory): string {
  return [...inventory].map((line) => `${JSON.stringify(line)}\n`).join('');
}

function parse(text: string): Inventory {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const pair: [string, string] = JSON.parse(line);
      return pair;
    }),
  );
}

async function observe(
  host: Host,
  change: ZoneChange,
  keeper: Keeper,
  previous?: ChangeRecord<ZoneChange, ZoneState>,
): Promise<Observation<ZoneState>> {
  if (previous !== undefined) return { satisfied: true, before: previous.first, action: 'none' };
  const realPath = await host.files.realPath(change.path);
  const inventory = new Map<string, string>();
  let mounted = false;
  let attributes: FileAttributes | undefined;
  if (realPath !== undefined) {
    for await (const entry of host.files.walk(realPath, { digestUpTo })) {
      if (entry.path === '') {
        mounted = entry.mountPoint;
        attributes = entry.stat;
      } else inventory.set(entry.path, fingerprint(entry));
    }
  }
  const before: ZoneState = {
    ...(realPath === undefined ? {} : { realPath }),
    mounted,
    ...(attributes === undefined
      ? {}
      : { attributes: { mode: attributes.mode, uid: attributes.uid, gid: attributes.gid } }),
    entries: inventory.size,
    inventory: await keeper.keepText(toText(inventory)),
  };
  return { satisfied: true, before, action: 'none' };
}

async function readInventory(host: Host, state: ZoneState, original: Keeper['original']): Promise<Inventory> {
  // Of nothing no list is needed: a lost store must not hold up what it says nothing of.
  if (state.entries === 0) return new Map();
  const path = original(state.inventory);
  const content = await host.files.read(path, { maxBytes: 1 << 30 });
  if (content !== undefined && (await host.files.digest(path)) === state.inventory) return parse(content.toString());
  throw new BkeError(
    'BKE_LEDGER_LOST',
    `the list of what was there before is not in the ledger's store any more (${path})`,
    {
      host: host.name,
    },
  );
}

/** Of what was there before: what is gone or differs now. It can't be brought back, for only its fingerprint was kept. */
async function changedSince(host: Host, path: string, inventory: Inventory): Promise<string[]> {
  const missing = new Map(inventory);
  const changed: string[] = [];
  for await (const entry of host.files.walk(path, { digestUpTo })) {
    const before = missing.get(entry.path);
    if (before !== undefined && before !== fingerprint(entry) && !entry.mountPoint) changed.push(entry.path);
    missing.delete(entry.path);
  }
  return [...changed, ...missing.keys()].sort();
}

function outcome(
  left: readonly { path: string; why: string }[],
  changed: readonly string[],
  removed: number,
): UndoOutcome {
  if (left.length > 0) {
    const paths = left.map(({ path, why }) => `${path}: ${why}`);
    return { result: 'left', why: listedShort(paths, 5) };
  }
  if (changed.length === 0) return { result: removed === 0 ? 'already' : 'undone' };
  const why = `was there before and changed since: ${listedShort(changed, 5)}`;
  return { result: 'kept', why };
}

async function restoreAttributes(host: Host, path: string, first: FileAttributes | undefined): Promise<void> {
  const now = await host.files.stat(path);
  if (first === undefined || now === undefined) return;
  const same = now.mode === first.mode && now.uid === first.uid && now.gid === first.gid;
  if (!same) await host.files.setAttributes(path, first);
}

function isZoneState(state: unknown): state is ZoneState {
  return typeof state === 'object' && state !== null && 'inventory' in state && 'entries' in state;
}

/**
 * Absolute paths that were in a zone before it was one: what is mounted on one of them was not mounted by those who filled it.
 * Nothing for other kinds.
 * @param original where the ledger's store keeps a digest.
 * @throws BkeError BKE_LEDGER_LOST
 */
export async function zonePathsBefore(
  host: Host,
  { last, first }: Pick<ChangeRecord, 'last' | 'first'>,
  original: Keeper['original'],
): Promise<string[]> {
  if (last.kind !== 'zone' || !isZoneState(first) || first.entries === 0) return [];
  const inventory = await readInventory(host, first, original);
  return [...inventory.keys()].map((path) => join(first.realPath ?? last.path, path));
}

async function undo(host: Host, record: ChangeRecord<ZoneChange, ZoneState>, keeper: Keeper): Promise<UndoOutcome> {
  const { path } = record.last;
  const first = record.first;
  const inventory = await readInventory(host, first, (digest) => keeper.original(digest));
  const now = await host.files.realPath(path);
  if (now === undefined) return { result: 'already' };
  if (first.realPath !== undefined && now !== first.realPath) {
    return { result: 'left', why: `${path} leads to ${now} now, and led to ${first.realPath}` };
  }
  const existed = first.realPath !== undefined;
  const options = { keep: new Set(inventory.keys()), keepTop: existed, mountedTop: first.mounted };
  const { left, removed } = await removeTree(host, first.realPath ?? path, options);
  if (existed) await restoreAttributes(host, now, first.attributes);
  return outcome(left, existed ? await changedSince(host, now, inventory) : [], removed);
}

export const zoneKind: ChangeKind<ZoneChange, ZoneState> = {
  kind: 'zone',
  key: (change) => `zone:${change.path}`,
  describe: (change) => `what is put into ${change.path}`,
  record: (change) => change,
  // Those who fill it make the directory itself; what is missing above it is ours.
  path: (change) => change.path,
  observe,
  outdated: (_change, previous) => previous === undefined,
  async apply() {
    // Recording what was there is all there is to do.
  },
  undo,
};
