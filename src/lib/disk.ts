// Free space, asked before and named after.
import { statfs } from 'node:fs/promises';
import { formatBytes } from './bytes.ts';
import { isErrno } from './errno.ts';
import { BkeError } from './errors.ts';

/** @throws BkeError BKE_DISK_FULL where the file system of `dir` has less than `needed` bytes for us; `what` needs them. */
export async function requireFreeSpace(dir: string, needed: number, what: string): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new BkeError(
    'BKE_DISK_FULL',
    `${dir} has ${formatBytes(free)} free (${free} bytes), ${what} needs ${formatBytes(needed)} (${needed} bytes)`,
    { hint: 'Free some space there or choose a directory on another disk.' },
  );
}

/** Turns ENOSPC and EDQUOT into BKE_DISK_FULL naming the path and the bytes wanted there; anything else stays as it is. */
export function namingFullDisk(thrown: unknown, path: string, needed: number): unknown {
  if (!isErrno(thrown, 'ENOSPC', 'EDQUOT')) return thrown;
  return new BkeError(
    'BKE_DISK_FULL',
    `the disk is full: writing ${path} needs ${formatBytes(needed)} (${needed} bytes)`,
    { cause: thrown, hint: 'Free some space there or choose a directory on another disk.' },
  );
}
