// What is at a path, enough to bring it back; shared by all changes that put one file or link somewhere.
import { basename, dirname, join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import { draftPrefix } from '../drafts.ts';
import type { FileStat, Host } from '../host.ts';
import type { Keeper, UndoOutcome, UndoPlan } from './change.ts';

export type FileState =
  | { readonly type: 'none' }
  | {
      readonly type: 'file';
      readonly digest: string;
      readonly mode: number;
      readonly uid: number;
      readonly gid: number;
      readonly mtimeNs: string;
    }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'directory' | 'other' };

async function stateFrom(host: Host, path: string, digest: (path: string) => Promise<string>): Promise<FileState> {
  const stat: FileStat | undefined = await host.files.stat(path);
  if (stat === undefined) return { type: 'none' };
  if (stat.type === 'link') return { type: 'link', target: await host.files.readLink(path) };
  if (stat.type !== 'file') return { type: stat.type };
  const { mode, uid, gid, mtimeNs } = stat;
  return { type: 'file', digest: await digest(path), mode, uid, gid, mtimeNs };
}

export function fileState(host: Host, path: string): Promise<FileState> {
  return stateFrom(host, path, (file) => host.files.digest(file));
}

/** Like fileState, and the content of a file goes to the store. */
export function keptState(host: Host, path: string, keeper: Keeper): Promise<FileState> {
  return stateFrom(host, path, (file) => keeper.keepOriginal(file));
}

export function sameContent(a: FileState, b: FileState): boolean {
  if (a.type === 'file' && b.type === 'file') return a.digest === b.digest;
  if (a.type === 'link' && b.type === 'link') return a.target === b.target;
  return a.type === 'none' && b.type === 'none';
}

function isSame(a: FileState, b: FileState): boolean {
  if (a.type !== 'file' || b.type !== 'file') return sameContent(a, b);
  return a.digest === b.digest && a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && a.mtimeNs === b.mtimeNs;
}

/** @throws BkeError BKE_PATH_IN_THE_WAY where a directory or device is at the path: bke replaces files and links only. */
export function requireReplaceable(host: Host, path: string, state: FileState): void {
  if (state.type !== 'directory' && state.type !== 'other') return;
  throw new BkeError(
    'BKE_PATH_IN_THE_WAY',
    `${path} is a ${state.type === 'other' ? 'device or socket' : state.type}`,
    {
      host: host.name,
      hint: 'Move it away, then run the same command again.',
    },
  );
}

/** What a crash left beside the path while it was being written. */
export async function removeDrafts(host: Host, path: string): Promise<void> {
  const prefix = draftPrefix(basename(path));
  for (const name of await host.files.list(dirname(path))) {
    if (name.startsWith(prefix)) await host.files.remove(join(dirname(path), name));
  }
}

async function restore(host: Host, path: string, state: FileState, keeper: Keeper): Promise<void> {
  if (state.type === 'none') return host.files.remove(path);
  if (state.type === 'link') return host.files.link(path, state.target);
  if (state.type !== 'file') throw new Error(`a ${state.type} is never replaced`);
  const kept = keeper.original(state.digest);
  const there = await host.files.stat(kept);
  if (there === undefined || (await host.files.digest(kept)) !== state.digest) {
    throw new BkeError('BKE_LEDGER_LOST', `the original of ${path} is not in the ledger's store any more (${kept})`, {
      host: host.name,
    });
  }
  await host.files.write(path, host.files.stream(kept), state);
}

export interface OwnedFile {
  readonly path: string;
  readonly first: FileState;
  /** Whether this is a state we made. */
  isOurs(state: FileState): boolean;
}

/** Puts back what was there first; what someone made of ours meanwhile is moved aside, not lost. */
export async function undoFile(host: Host, owned: OwnedFile, keeper: Keeper): Promise<UndoOutcome> {
  const { path, first } = owned;
  await removeDrafts(host, path);
  const now = await fileState(host, path);
  if (isSame(now, first)) return { result: 'already' };
  if (now.type === 'directory' || now.type === 'other') return { result: 'left', why: `${path} is a ${now.type} now` };
  const edited = now.type !== 'none' && !owned.isOurs(now) && !sameContent(now, first);
  const keptAt = edited ? await keeper.moveAside(path) : undefined;
  await restore(host, path, first, keeper);
  return keptAt === undefined ? { result: 'undone' } : { result: 'kept', why: 'it was edited since', keptAt };
}

/** @param what the file in words, as plans have it. */
export function planUndoFile(what: string, first: FileState): UndoPlan {
  return first.type === 'none' ? { action: 'remove', what } : { action: 'change', what: `${what} back to what it was` };
}
