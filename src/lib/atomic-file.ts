// Files that are whole or not there: written beside their place, synced, renamed.
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno } from './errno.ts';

/**
 * Gives `write` a new file (readable too) in the folder of `path`; when it returns, the file is synced and renamed into place, when it throws, removed.
 * What a killed run left of the same file is removed first.
 * @param mode exact permission bits, whatever the umask.
 */
export async function writeAtomically(
  path: string,
  mode: number,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
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
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  await syncDirectory(dirname(path));
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
