// The change kind `directory`: a directory with this mode and owner; what others put in is never ours.
import { BkeError } from '../../lib/errors.ts';
import { listedShort } from '../../lib/text.ts';
import type { FileAttributes, FileStat, Host } from '../host.ts';
import { findOwner, requireOwner } from './accounts.ts';
import type { ChangeKind, ChangeRecord, DirectoryChange, Observation, UndoOutcome } from './change.ts';
import { removeDrafts } from './file-state.ts';

/** null: nothing was there. */
type DirectoryState = FileAttributes | null;

async function stateOf(host: Host, path: string): Promise<DirectoryState> {
  const stat: FileStat | undefined = await host.files.stat(path);
  if (stat === undefined) return null;
  if (stat.type === 'directory') return { mode: stat.mode, uid: stat.uid, gid: stat.gid };
  throw new BkeError('BKE_PATH_IN_THE_WAY', `${path} is a ${stat.type}, and a directory is needed there`, {
    host: host.name,
    hint: 'Move it away, then run the same command again.',
  });
}

function isSame(a: FileAttributes, b: FileAttributes): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

async function observe(host: Host, change: DirectoryChange): Promise<Observation<DirectoryState>> {
  const before = await stateOf(host, change.path);
  const ids = await findOwner(host, change.owner);
  const satisfied = before !== null && ids !== undefined && isSame(before, { mode: change.mode, ...ids });
  if (satisfied) return { satisfied, before, action: 'none' };
  return { satisfied, before, action: before === null ? 'create' : 'change' };
}

async function apply(host: Host, change: DirectoryChange): Promise<void> {
  const attributes = { mode: change.mode, ...(await requireOwner(host, change.owner)) };
  await removeDrafts(host, change.path);
  const there = await host.files.stat(change.path);
  if (there === undefined) await host.files.makeDirectory(change.path, attributes);
  else await host.files.setAttributes(change.path, attributes);
}

async function undo(host: Host, record: ChangeRecord<DirectoryChange, DirectoryState>): Promise<UndoOutcome> {
  const { path } = record.last;
  const first = record.first;
  await removeDrafts(host, path);
  const now = await stateOf(host, path);
  if (now === null || (first !== null && isSame(now, first))) return { result: 'already' };
  if (first !== null) {
    await host.files.setAttributes(path, first);
    return { result: 'undone' };
  }
  const content = await host.files.list(path);
  if (content.length > 0 && record.last.home === true) {
    // Another account may get the same number one day.
    await host.files.setAttributes(path, { mode: 0o700, uid: 0, gid: 0 });
    return { result: 'kept', why: `it holds what its user made: ${listedShort(content, 5)}` };
  }
  if (content.length > 0) return { result: 'left', why: `not empty: ${listedShort(content, 5)}` };
  await host.files.remove(path);
  return { result: 'undone' };
}

export const directoryKind: ChangeKind<DirectoryChange, DirectoryState> = {
  kind: 'directory',
  key: (change) => `directory:${change.path}`,
  describe: (change) => `directory ${change.path}`,
  record: (change) => change,
  path: (change) => change.path,
  observe,
  apply,
  planUndo: ({ last, first }) =>
    first === null
      ? { action: 'remove', what: `directory ${last.path}` }
      : { action: 'change', what: `mode and owner of directory ${last.path} back to what they were` },
  undo,
};
