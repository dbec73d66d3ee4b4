// The change kind `file`: a file with this content, mode and owner.
import { pipeline } from 'node:stream';
import { digestOf, digesting } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import { findOwner, requireOwner } from './accounts.ts';
import { runBounded } from '../state/bounded.ts';
import type { ChangeKind, ChangeRecord, FileChange, Observation, UndoOutcome } from './change.ts';
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
  const { content } = change;
  if ('text' in content) return digestOf(content.text);
  return 'bytes' in content ? digestOf(content.bytes) : content.digest;
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
  if ('bytes' in content) return content.bytes;
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
  await restartReader(host, change);
}

const restartMs = 100_000;

/** One that does not start again tells so itself, and keeps neither a change nor a reset from its end. */
async function restartReader(host: Host, { reader }: FileChange): Promise<void> {
  if (reader !== undefined)
    await runBounded(host, ['systemctl', 'try-restart', '--', reader], { timeoutMs: restartMs });
}

async function undo(
  host: Host,
  record: ChangeRecord<FileChange, FileState>,
  keeper: Parameters<typeof undoFile>[2],
): Promise<UndoOutcome> {
  const { first, last } = record;
  const owned = { path: last.path, first, isOurs: (state: FileState) => isOurs(record, state) };
  const outcome = await undoFile(host, owned, keeper);
  if (outcome.result !== 'already') await restartReader(host, last);
  return outcome;
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
  // Where bke died between the file and the restart.
  outdated: (change, previous) =>
    change.reader !== undefined && previous !== undefined && previous.versions.at(-1)?.applied === undefined,
  apply,
  planUndo: ({ last, first }) => planUndoFile(`file ${last.path}`, first),
  undo,
};
