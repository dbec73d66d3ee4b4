// Walks and empties directory trees without ever leaving the mount they lie on and without following a link (docs/adr/0005-tree-removal.md).
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';
import type { LeftPath, RemoveTreeOptions, RemoveTreeResult } from '../host.ts';
import { type Mount, mountsWithin, parseMountInfo } from '../state/mounts.ts';
import { DirectoryHandle, type NamedEntry } from './directory-handle.ts';
import type { FileSystem } from './file-system.ts';
import { openPrivateView } from './private-view.ts';

const defaultTimeoutMs = 600_000;
/** A directory that something still writes into is emptied this many times. */
const passes = 3;

export async function readMounts(fs: FileSystem): Promise<Mount[]> {
  return parseMountInfo(await fs.readFile('/proc/self/mountinfo', 'utf8'));
}

function reasonOf(thrown: unknown): string {
  const code = errnoOf(thrown);
  if (code === 'EPERM') return 'not permitted, perhaps immutable (see lsattr)';
  if (code === 'EBUSY') return 'in use or a mount point';
  if (code === 'EROFS') return 'the file system is read-only';
  if (code === undefined) throw thrown;
  return code;
}

interface Removal {
  readonly fs: FileSystem;
  /** Canonical path of the top, for reports and for comparison with mount points. */
  readonly top: string;
  readonly options: RemoveTreeOptions;
  readonly mountPoints: ReadonlySet<string>;
  readonly mountId: string;
  readonly deadline: number;
  removed: number;
  readonly left: LeftPath[];
}

function isOver(removal: Removal): boolean {
  return performance.now() > removal.deadline || removal.options.signal?.aborted === true;
}

function leave(removal: Removal, path: string, why: string): false {
  removal.left.push({ path: join(removal.top, path), why });
  return false;
}

/** Nothing there any more counts as gone. */
async function take(removal: Removal, path: string, remove: () => Promise<void>): Promise<boolean> {
  try {
    await remove();
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') return leave(removal, path, reasonOf(thrown));
  }
  removal.removed += 1;
  return true;
}

async function removeDirectory(
  removal: Removal,
  parent: DirectoryHandle,
  entry: NamedEntry,
  path: string,
): Promise<boolean> {
  let child: DirectoryHandle;
  try {
    child = await parent.openChild(entry.name);
  } catch (thrown) {
    return errnoOf(thrown) === 'ENOENT' || leave(removal, path, reasonOf(thrown));
  }
  try {
    if (child.mountId !== removal.mountId) return leave(removal, path, 'something is mounted here');
    const emptied = await empty(removal, child, path);
    if (!emptied || removal.options.keep?.has(path) === true) return false;
  } finally {
    await child.close();
  }
  return take(removal, path, () => removal.fs.rmdir(parent.at(entry.name)));
}

/** Whether the entry is gone. */
async function removeEntry(
  removal: Removal,
  parent: DirectoryHandle,
  entry: NamedEntry,
  path: string,
): Promise<boolean> {
  const kept = removal.options.keep?.has(path) === true;
  if (removal.mountPoints.has(join(removal.top, path)))
    return kept ? false : leave(removal, path, 'something is mounted here');
  if (entry.type === 'directory') return removeDirectory(removal, parent, entry, path);
  if (kept) return false;
  return take(removal, path, () => removal.fs.unlink(parent.at(entry.name)));
}

/** Whether the directory is empty afterwards. */
async function empty(removal: Removal, directory: DirectoryHandle, path: string): Promise<boolean> {
  for (let pass = 1; ; pass += 1) {
    const entries = await directory.entries();
    if (entries.length === 0) return true;
    if (pass > passes) return leave(removal, path, 'something still writes into it');
    let gone = 0;
    for (const entry of entries) {
      if (isOver(removal)) return leave(removal, path, 'stopped before it was empty');
      gone += (await removeEntry(removal, directory, entry, join(path, entry.text))) ? 1 : 0;
    }
    if (gone < entries.length) return false;
  }
}

async function clear(removal: Removal, top: DirectoryHandle, at: string): Promise<void> {
  if (!(await empty(removal, top, '')) || removal.options.keepTop === true) return;
  await take(removal, '', () => removal.fs.rmdir(at));
}

/** The same directory, seen without what is mounted below it; undefined where no such view can be made. */
async function openView(fs: FileSystem, path: string, direct: DirectoryHandle) {
  const view = await openPrivateView(path);
  if (view === undefined) return undefined;
  try {
    const top = await DirectoryHandle.open(fs, view.path);
    if ((await top.identity()) === (await direct.identity()))
      return { top, close: () => top.close().finally(() => view.close()) };
    await top.close();
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  }
  view.close();
  return undefined;
}

/** What vanished from below the top meanwhile would be data taken away: it can't happen, and is looked for all the same. */
function lostMounts(before: readonly Mount[], after: readonly Mount[], top: string): LeftPath[] {
  const present = new Set(mountsWithin(after, top).map((mount) => mount.id));
  return mountsWithin(before, top)
    .filter((mount) => !present.has(mount.id))
    .map((mount) => ({
      path: mount.mountPoint,
      why: 'what was mounted here was unmounted by something else meanwhile',
    }));
}

export interface TreeAccess {
  readonly fs: FileSystem;
  /** false: walk in place only (for trees in which nothing can be mounted). */
  readonly privateView: boolean;
}

/** @param path canonical, so that it can be compared with mount points. */
export async function removeTree(
  access: TreeAccess,
  path: string,
  options: RemoveTreeOptions,
): Promise<RemoveTreeResult> {
  const { fs } = access;
  const before = await readMounts(fs);
  const mountPoints = new Set(mountsWithin(before, path).map((mount) => mount.mountPoint));
  if (mountPoints.has(path) && options.mountedTop !== true) {
    return { removed: 0, left: [{ path, why: 'something is mounted here' }] };
  }
  const direct = await DirectoryHandle.open(fs, path);
  const view = access.privateView ? await openView(fs, path, direct) : undefined;
  const top = view?.top ?? direct;
  const removal: Removal = {
    fs,
    top: path,
    options,
    mountPoints,
    mountId: top.mountId,
    removed: 0,
    left: [],
    deadline: performance.now() + (options.timeoutMs ?? defaultTimeoutMs),
  };
  try {
    await clear(removal, top, path);
  } finally {
    await view?.close();
    await direct.close();
  }
  return { removed: removal.removed, left: [...removal.left, ...lostMounts(before, await readMounts(fs), path)] };
}
