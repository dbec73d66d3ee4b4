// Reading one file: attributes in whole numbers, content in pieces, never through a link and never blocked by a pipe.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { BkeError } from '../../lib/errors.ts';
import { errnoOf } from '../errno.ts';
import type { FileStat } from '../host.ts';
import { fileType } from './directory-handle.ts';
import type { FileSystem } from './file-system.ts';

const chunkBytes = 1 << 18;

/** undefined where nothing is there (or above it no directory). */
export async function statOf(
  fs: FileSystem,
  path: string | Buffer,
): Promise<{ stat: FileStat; inode: string } | undefined> {
  try {
    const found = await fs.lstat(path, { bigint: true });
    const stat: FileStat = {
      type: fileType(found),
      mode: Number(found.mode & 0o7777n),
      uid: Number(found.uid),
      gid: Number(found.gid),
      size: Number(found.size),
      mtimeNs: found.mtimeNs.toString(),
    };
    return { stat, inode: found.ino.toString() };
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR') return undefined;
    throw thrown;
  }
}

/** @throws BkeError BKE_SYSTEM where it is no regular file. */
export async function openRegular(fs: FileSystem, path: string | Buffer): Promise<FileHandle> {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new BkeError('BKE_SYSTEM', `${path.toString()} is no regular file`);
}

/** Content of an open file in order; closes it at the end. */
export async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

export async function digestFile(fs: FileSystem, path: string | Buffer): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(await openRegular(fs, path))) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}
