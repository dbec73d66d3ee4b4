// The change kind `file`: a file with this content, mode and owner.
import { pipeline } from 'node:stream';
import { digestOf, digesting } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import { findOwner, requireOwner } from './accounts.ts';
import type { ChangeKind, ChangeRecord, FileChange, Observation } from './change.ts';
import {
  type FileState,
  fileState,
  keptState,
  planUndoFile,
  removeDrafts,
  requireReplaceable,
  sameContent,
  undoFile,
} from './file-state.ts';

function digestWanted(change: FileChange): string {
  return 'text' in change.content ? digestOf(change.content.text) : change.content.digest;
}

async function isWanted(host: Host, change: FileChange, now: FileState): Promise<boolean> {
  if (now.type !== 'file' || now.mode !== change.mode || now.digest !== digestWanted(change)) return false;
  const ids = await findOwner(host, change.owner);
  return ids !== undefined && now.uid === ids.uid && now.gid === ids.gid;
}

async function observe(
  host: Host,
  change: FileChange,
  keeper: Parameters<typeof keptState>[2],
): Promise<Observation<FileState>> {
  const now = await fileState(host, change.path);
  if (await isWanted(host, change, now)) return { satisfied: true, before: now, action: 'none' };
  requireReplaceable(host, change.path, now);
  const before = await keptState(host, change.path, keeper);
  return { satisfied: false, before, action: now.type === 'none' ? 'create' : 'change' };
}

/** The source is checked while it is copied: what is not meant never reaches its place. */
function contentOf(host: Host, change: FileChange) {
  const { content } = change;
  if ('text' in content) return content.text;
  const through = digesting(({ digest }) =>
    digest === content.digest
      ? undefined
      : new BkeError('BKE_DIGEST_MISMATCH', `${content.source} is ${digest}, expected ${content.digest}`),
  );
  // Errors and early ends pass both ways; who reads `through` sees them.
  pipeline(host.files.stream(content.source), through, () => undefined);
  return through;
}

async function apply(host: Host, change: FileChange): Promise<void> {
  await removeDrafts(host, change.path);
  const ids = await requireOwner(host, change.owner);
  await host.files.write(change.path, contentOf(host, change), { mode: change.mode, ...ids });
}

function isOurs(record: ChangeRecord<FileChange, FileState>, state: FileState): boolean {
  return state.type === 'file' && record.versions.some((version) => digestWanted(version.change) === state.digest);
}

export const fileKind: ChangeKind<FileChange, FileState> = {
  kind: 'file',
  key: (change) => `file:${change.path}`,
  describe: (change) => `file ${change.path}`,
  record: (change) => ({ ...change, content: { source: '', digest: digestWanted(change) } }),
  path: (change) => change.path,
  observe,
  edited(previous, now) {
    const state = now;
    const untouched = state.type === 'none' || isOurs(previous, state) || sameContent(state, previous.first);
    return untouched ? undefined : previous.last.path;
  },
  apply,
  planUndo: ({ last, first }) => planUndoFile(`file ${last.path}`, first),
  undo: (host, record, keeper) =>
    undoFile(host, { path: record.last.path, first: record.first, isOurs: (state) => isOurs(record, state) }, keeper),
};
