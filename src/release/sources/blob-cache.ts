// Blobs fetched from far away, kept by digest: a broken download goes on where it was, and nothing is used unchecked.
import { createHash, type Hash } from 'node:crypto';
import { chmod, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Content, contentOfChunks, type Digest, hexOf } from '../../lib/digest.ts';
import { namingFullDisk, requireFreeSpace } from '../../lib/disk.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { fileChunks } from '../../lib/file-range.ts';
import { openPlainFile } from '../../lib/plain-file.ts';
import { type BlobOrigin, fileOrigin } from './blob-origin.ts';

export interface RemoteBlob {
  readonly digest: Digest;
  /** Bytes, where the source tells before. */
  readonly size?: number;
  readonly where: string;
  /** The bytes from `offset` on. */
  fetch(offset: number): AsyncIterable<Buffer>;
}

export class BlobCache {
  readonly #dir: string;

  /** @param dir made where missing; may be removed at any time when no bke is running. */
  constructor(dir: string) {
    this.#dir = join(dir, 'sha256');
  }

  /** @throws BkeError BKE_DIGEST_MISMATCH where the source twice gave other bytes than promised; BKE_DISK_FULL. */
  async ensure(remote: RemoteBlob): Promise<BlobOrigin> {
    await mkdir(this.#dir, { recursive: true, mode: 0o755 });
    const path = join(this.#dir, hexOf(remote.digest));
    const present = await contentOf(path);
    if (present?.digest === remote.digest) return fileOrigin(path, present);
    // A file that rotted here is simply fetched again, that one only.
    if (present !== undefined) await rm(path, { force: true });
    const first = await this.#download(remote, path);
    const content = first.digest === remote.digest ? first : await this.#download(remote, path);
    if (content.digest === remote.digest) return fileOrigin(path, content);
    throw new BkeError(
      'BKE_DIGEST_MISMATCH',
      `${remote.where} should be ${remote.digest} but is ${content.digest} (${content.size} bytes); it was fetched twice`,
    );
  }

  async #download(remote: RemoteBlob, path: string): Promise<Content> {
    const part = `${path}.part`;
    const file = await open(part, 'a+', 0o644);
    let content: Content;
    try {
      content = await this.#append(remote, file, part);
    } finally {
      await file.close();
    }
    if (content.digest !== remote.digest) {
      await rm(part, { force: true });
      return content;
    }
    await chmod(part, 0o644);
    await rename(part, path);
    return content;
  }

  async #append(remote: RemoteBlob, file: FileHandle, part: string): Promise<Content> {
    const hash = createHash('sha256');
    let size = await hashPart(file, hash);
    if (remote.size !== undefined) await requireFreeSpace(this.#dir, Math.max(0, remote.size - size), remote.where);
    // What is there already may be all of it.
    if (remote.size === undefined || size < remote.size) {
      try {
        for await (const chunk of remote.fetch(size)) {
          hash.update(chunk);
          await file.appendFile(chunk);
          size += chunk.length;
        }
      } catch (thrown) {
        throw namingFullDisk(thrown, part, remote.size ?? size);
      }
    }
    await file.sync();
    return { digest: `sha256:${hash.digest('hex')}`, size };
  }
}

async function hashPart(file: FileHandle, hash: Hash): Promise<number> {
  const { size } = await file.stat();
  for await (const chunk of fileChunks(file, 0, size)) hash.update(chunk);
  return size;
}

/** undefined where there is no such file. @throws BkeError BKE_ARTIFACT_UNUSABLE where it is no plain file. */
export async function contentOf(path: string): Promise<Content | undefined> {
  try {
    const file = await openPlainFile(path, 'BKE_ARTIFACT_UNUSABLE');
    try {
      return await contentOfChunks(fileChunks(file, 0, (await file.stat()).size));
    } finally {
      await file.close();
    }
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}
