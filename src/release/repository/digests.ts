// The digest of each file, kept beside the repository, so that an ETag needs no second reading of some hundred MB.
import { type FileHandle, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../../lib/atomic-file.ts';
import { contentOfChunks, type Digest } from '../../lib/digest.ts';
import { isErrno } from '../../lib/errno.ts';
import { fileChunks } from '../../lib/file-range.ts';
import { digest } from '../manifest.ts';
import { makeFolders } from './paths.ts';

const record = z.object({ size: z.number(), modified: z.string(), digest });
type Record = z.infer<typeof record>;

/** Size and time of change in ns: another file content has another pair, unless somebody wants to deceive himself. */
export interface FileVersion {
  readonly size: number;
  readonly modified: string;
}

export async function versionOf(file: FileHandle): Promise<FileVersion> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return { size: Number(size), modified: String(mtimeNs) };
}

export async function hashFile(file: FileHandle, size: number): Promise<Digest> {
  return (await contentOfChunks(fileChunks(file, 0, size))).digest;
}

export class DigestRecords {
  readonly #root: string;
  readonly #known = new Map<string, Record>();
  readonly #hashing = new Map<string, Promise<Record>>();

  /** @param root the repository's directory; the records lie in `.digests` below it. */
  constructor(root: string) {
    this.#root = root;
  }

  /** @param key area and path, e.g. files/kubernetes/…; `file` is that file, open for reading. */
  async digestOf(key: string, file: FileHandle): Promise<FileVersion & { readonly digest: Digest }> {
    const version = await versionOf(file);
    const known = this.#known.get(key) ?? (await this.#read(key));
    if (known !== undefined && known.size === version.size && known.modified === version.modified) {
      this.#known.set(key, known);
      return known;
    }
    return this.#hashOnce(key, file, version);
  }

  /** Thirty hosts may ask at once for a file that was just copied in by hand. */
  async #hashOnce(key: string, file: FileHandle, version: FileVersion): Promise<Record> {
    const id = `${key} ${version.size} ${version.modified}`;
    const running = this.#hashing.get(id) ?? this.#hash(key, file, version).finally(() => this.#hashing.delete(id));
    this.#hashing.set(id, running);
    return running;
  }

  async #hash(key: string, file: FileHandle, version: FileVersion): Promise<Record> {
    const fresh = { ...version, digest: await hashFile(file, version.size) };
    await this.remember(key, fresh);
    return fresh;
  }

  async remember(key: string, fresh: Record): Promise<void> {
    this.#known.set(key, fresh);
    const path = this.#path(key);
    try {
      await makeFolders(this.#root, dirname(join('.digests', key)));
      await writeAtomically(path, 0o644, async (file) => {
        await file.writeFile(JSON.stringify(fresh));
      });
    } catch (thrown) {
      // The server may read the repository without being allowed to write there: then the record lives as long as it does.
      if (!isErrno(thrown, 'EACCES', 'EROFS', 'EPERM', 'ENOSPC')) throw thrown;
    }
  }

  /** The path of the record, for whoever removes the file. */
  forget(key: string): string {
    this.#known.delete(key);
    return this.#path(key);
  }

  async #read(key: string): Promise<Record | undefined> {
    try {
      const parsed = record.safeParse(JSON.parse(await readFile(this.#path(key), 'utf8')));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined; // missing or damaged: the file is hashed again
    }
  }

  #path(key: string): string {
    return join(this.#root, '.digests', `${key}.json`);
  }
}
