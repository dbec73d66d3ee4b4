// Files that are whole or not there: written beside their place, synced, renamed.
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isErrno } from './errno.ts';
import { BkeError } from './errors.ts';
import { fileType } from './plain-file.ts';

/**
 * Gives `write` a new file (readable too) in the folder of `path`; when it returns, the file is synced and renamed into place, when it throws, removed.
 * What a killed run left of the same file is removed first. A symbolic link is replaced and not followed: who means its target asks `writeTarget`.
 * @param mode exact permission bits, whatever the umask.
 * @throws BkeError BKE_USAGE where a directory, device, pipe or socket is at `path`; it is left as it is.
 */
export async function writeAtomically(
  path: string,
  mode: number,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  await requireReplaceable(path);
  await removeDeadDrafts(path);
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
  try {
    const file = await open(draft, 'wx+', mode);
    try {
      await file.chmod(mode);
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    // Writing may have taken long: what came to be there meanwhile is not lost either.
    await requireReplaceable(path);
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  await syncDirectory(dirname(path));
}

/** A loop of links ends here, as in Linux (path_resolution(7)). */
const mostLinks = 40;

/**
 * Where a file that a person names is really written: behind symbolic links, also one whose target is not there yet.
 * @throws BkeError BKE_USAGE where something else than a plain file is there.
 */
export async function writeTarget(path: string): Promise<string> {
  let target = path;
  for (let link = 0; link < mostLinks; link += 1) {
    const found = await lstatOrNothing(target);
    if (found?.isSymbolicLink() !== true) {
      await requireReplaceable(target);
      return target;
    }
    // `..` in a link starts at the real folder it lies in.
    target = resolve(await realpath(dirname(target)), await readlink(target));
  }
  throw new BkeError('BKE_USAGE', `cannot write ${path}: it is a symbolic link that leads to itself`);
}

/** Folders that a person mistyped are not made. @param name of the file, as it was typed @throws BkeError BKE_USAGE where its folder is not there */
export async function requireFolderOf(path: string, name: string): Promise<void> {
  const folder = dirname(path);
  const found = await stat(folder).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return undefined;
    throw thrown;
  });
  if (found?.isDirectory() === true) return;
  throw new BkeError('BKE_USAGE', `cannot write ${name}: there is no folder ${folder}`, {
    hint: 'Make it first, or name a file in a folder that is there.',
  });
}

async function requireReplaceable(path: string): Promise<void> {
  const found = await lstatOrNothing(path);
  if (found === undefined || found.isFile() || found.isSymbolicLink()) return;
  throw new BkeError('BKE_USAGE', `cannot write ${path}: ${fileType(found)} is there`, {
    hint: 'Name a file that is not there yet, or one that may be replaced.',
  });
}

async function lstatOrNothing(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

async function removeDeadDrafts(path: string): Promise<void> {
  const dir = dirname(path);
  const start = `.${basename(path)}.`;
  for (const name of await readdir(dir)) {
    const pid = name.startsWith(start) ? /^(\d+)-[0-9a-f]{8}\.tmp$/.exec(name.slice(start.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(dir, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return isErrno(thrown, 'EPERM');
  }
}

/** Makes a rename or removal in `dir` last over a power cut. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
