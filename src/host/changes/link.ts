// The change kind `link`: a symbolic link with this target.
import type { ChangeKind, ChangeRecord, LinkChange, Observation } from './change.ts';
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

function isOurs(record: ChangeRecord<LinkChange, FileState>, state: FileState): boolean {
  return state.type === 'link' && record.versions.some((version) => version.change.target === state.target);
}

export const linkKind: ChangeKind<LinkChange, FileState> = {
  kind: 'link',
  key: (change) => `link:${change.path}`,
  describe: (change) => `link ${change.path} -> ${change.target}`,
  record: (change) => change,
  path: (change) => change.path,
  async observe(host, change, keeper): Promise<Observation<FileState>> {
    const now = await fileState(host, change.path);
    if (sameContent(now, { type: 'link', target: change.target }))
      return { satisfied: true, before: now, action: 'none' };
    requireReplaceable(host, change.path, now);
    const before = await keptState(host, change.path, keeper);
    return { satisfied: false, before, action: now.type === 'none' ? 'create' : 'change' };
  },
  edited(previous, now) {
    const state = now;
    const untouched = state.type === 'none' || isOurs(previous, state) || sameContent(state, previous.first);
    return untouched ? undefined : previous.last.path;
  },
  async apply(host, change) {
    await removeDrafts(host, change.path);
    await host.files.link(change.path, change.target);
  },
  planUndo: ({ last, first }) => planUndoFile(`link ${last.path}`, first),
  undo: (host, record, keeper) =>
    undoFile(host, { path: record.last.path, first: record.first, isOurs: (state) => isOurs(record, state) }, keeper),
};
