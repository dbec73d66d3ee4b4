// Lists a tree with what is needed to know each thing again: attributes, digests, link targets; never into another mount.
import { join } from 'node:path';
import type { TreeEntry } from '../host.ts';
import { mountsWithin } from '../state/mounts.ts';
import { DirectoryHandle } from './directory-handle.ts';
import { digestFile, statOf } from './file-access.ts';
import type { FileSystem } from './file-system.ts';
import { readMounts } from './tree.ts';

interface Walk {
  readonly fs: FileSystem;
  readonly top: string;
  readonly mountPoints: ReadonlySet<string>;
  readonly mountId: string;
  readonly digestUpTo: number;
}

async function describe(walk: Walk, at: Buffer | string, path: string): Promise<TreeEntry | undefined> {
  const found = await statOf(walk.fs, at);
  if (found === undefined) return undefined;
  const { stat, inode } = found;
  const entry = { path, type: stat.type, mountPoint: false, stat, inode };
  if (stat.type === 'link') return { ...entry, target: await walk.fs.readlink(at, 'utf8') };
  if (stat.type !== 'file' || stat.size > walk.digestUpTo) return entry;
  return { ...entry, digest: await digestFile(walk.fs, at) };
}

async function* below(walk: Walk, directory: DirectoryHandle, path: string): AsyncGenerator<TreeEntry> {
  for (const { name, text, type } of await directory.entries()) {
    const place = join(path, text);
    if (walk.mountPoints.has(join(walk.top, place))) {
      yield { path: place, type, mountPoint: true };
      continue;
    }
    const entry = await describe(walk, directory.at(name), place);
    if (entry === undefined) continue;
    yield entry;
    if (entry.type !== 'directory') continue;
    const child = await directory.openChild(name);
    try {
      if (child.mountId === walk.mountId) yield* below(walk, child, place);
    } finally {
      await child.close();
    }
  }
}

/** @param top canonical path of a directory. */
export async function* walkTree(fs: FileSystem, top: string, digestUpTo: number): AsyncGenerator<TreeEntry> {
  const mountPoints = new Set(mountsWithin(await readMounts(fs), top).map((mount) => mount.mountPoint));
  const directory = await DirectoryHandle.open(fs, top);
  try {
    const walk = { fs, top, mountPoints, mountId: directory.mountId, digestUpTo };
    const entry = await describe(walk, top, '');
    if (entry === undefined) return;
    yield { ...entry, mountPoint: mountPoints.has(top) };
    yield* below(walk, directory, '');
  } finally {
    await directory.close();
  }
}
