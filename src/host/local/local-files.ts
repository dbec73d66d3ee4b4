// The files of the machine this process runs on (contract: HostFiles).
import { constants } from 'node:fs';
import nodeFileSystem, { type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { errnoOf, fileError } from '../errno.ts';
import type {
  FileAttributes,
  FileStat,
  HostFiles,
  RemoveTreeOptions,
  RemoveTreeResult,
  TreeEntry,
  WriteAttributes,
} from '../host.ts';
import { chunksOf, digestFile, openRegular, statOf } from './file-access.ts';
import type { FileSystem } from './file-system.ts';
import { type Content, placeDirectory, placeFile, placeLink, type Place, syncDirectory } from './place-file.ts';
import { removeTree } from './tree.ts';
import { walkTree } from './walk.ts';

const defaultReadBytes = 1 << 20;

export interface LocalFilesOptions {
  /** Stands before every path: for tests only. */
  readonly root?: string;
  readonly fs?: FileSystem;
  /** Remove trees through a private mount view where that can be made. Default true. */
  readonly privateView?: boolean;
}

function isMissing(thrown: unknown): boolean {
  const code = errnoOf(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function readUpTo(chunks: AsyncIterable<Buffer>, path: string, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw new BkeError('BKE_FILE_TOO_LARGE', `${path} is larger than ${maxBytes} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** All or nothing: half a line that a full disk left would take the next one with it. */
async function appendWhole(file: FileHandle, content: string): Promise<void> {
  const { size } = await file.stat();
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (thrown) {
    await file.truncate(size).catch(() => undefined);
    throw thrown;
  }
}

export class LocalFiles implements HostFiles {
  readonly #root: string;
  readonly #fs: FileSystem;
  readonly #privateView: boolean;

  constructor(options: LocalFilesOptions = {}) {
    this.#root = options.root ?? '';
    this.#fs = options.fs ?? nodeFileSystem;
    this.#privateView = options.privateView ?? true;
  }

  #real(path: string): string {
    if (!isAbsolute(path)) throw new Error(`${path} is no absolute path`);
    return this.#root === '' ? path : join(this.#root, path);
  }

  #place(path: string): Place {
    return { real: this.#real(path), named: path };
  }

  /** Runs an act on a path and names both where the system refuses. */
  async #act<T>(what: string, path: string, act: (real: string) => Promise<T>): Promise<T> {
    try {
      return await act(this.#real(path));
    } catch (thrown) {
      throw fileError(thrown, { what, path });
    }
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.#act('looking at', path, async (real) => (await statOf(this.#fs, real))?.stat);
  }

  read(path: string, options: { readonly maxBytes?: number } = {}): Promise<Buffer | undefined> {
    return this.#act('reading', path, async (real) => {
      try {
        const file = await openRegular(this.#fs, real);
        return await readUpTo(chunksOf(file), path, options.maxBytes ?? defaultReadBytes);
      } catch (thrown) {
        if (isMissing(thrown)) return undefined;
        throw thrown;
      }
    });
  }

  async *#chunks(path: string): AsyncGenerator<Buffer> {
    try {
      yield* chunksOf(await openRegular(this.#fs, this.#real(path)));
    } catch (thrown) {
      throw fileError(thrown, { what: 'reading', path });
    }
  }

  stream(path: string): Readable {
    return Readable.from(this.#chunks(path), { objectMode: false });
  }

  digest(path: string): Promise<string> {
    return this.#act('reading', path, (real) => digestFile(this.#fs, real));
  }

  write(path: string, content: Content, attributes: WriteAttributes): Promise<void> {
    return placeFile(this.#fs, this.#place(path), content, attributes);
  }

  writeInPlace(path: string, content: string | Uint8Array): Promise<void> {
    return this.#act('writing', path, async (real) => {
      const file = await this.#fs.open(real, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
      try {
        await file.writeFile(content);
      } finally {
        await file.close();
      }
    });
  }

  makeDirectory(path: string, attributes: FileAttributes): Promise<void> {
    return placeDirectory(this.#fs, this.#place(path), attributes);
  }

  setAttributes(path: string, attributes: FileAttributes): Promise<void> {
    return this.#act('changing', path, async (real) => {
      const found = await statOf(this.#fs, real);
      await this.#fs.lchown(real, attributes.uid, attributes.gid);
      // A link has no mode of its own, and chmod would follow it.
      if (found?.stat.type !== 'link') await this.#fs.chmod(real, attributes.mode);
    });
  }

  link(path: string, target: string): Promise<void> {
    return placeLink(this.#fs, this.#place(path), target);
  }

  readLink(path: string): Promise<string> {
    return this.#act('reading', path, (real) => this.#fs.readlink(real, 'utf8'));
  }

  list(path: string): Promise<string[]> {
    return this.#act('listing', path, async (real) => {
      try {
        return (await this.#fs.readdir(real)).sort();
      } catch (thrown) {
        if (isMissing(thrown)) return [];
        throw thrown;
      }
    });
  }

  remove(path: string): Promise<void> {
    return this.#act('removing', path, async (real) => {
      const found = await statOf(this.#fs, real);
      if (found === undefined) return;
      try {
        await (found.stat.type === 'directory' ? this.#fs.rmdir(real) : this.#fs.unlink(real));
      } catch (thrown) {
        // Someone else was quicker.
        if (errnoOf(thrown) !== 'ENOENT') throw thrown;
      }
      await syncDirectory(this.#fs, dirname(real));
    });
  }

  append(path: string, content: string): Promise<void> {
    return this.#act('appending to', path, async (real) => {
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
      const file = await this.#fs.open(real, flags, 0o600);
      try {
        await appendWhole(file, content);
      } finally {
        await file.close();
      }
    });
  }

  truncate(path: string, size: number): Promise<void> {
    return this.#act('cutting', path, async (real) => {
      const file = await this.#fs.open(real, constants.O_RDWR | constants.O_NOFOLLOW);
      try {
        await file.truncate(size);
        await file.sync();
      } finally {
        await file.close();
      }
    });
  }

  realPath(path: string): Promise<string | undefined> {
    return this.#act('looking at', path, async (real) => {
      try {
        const found = await this.#fs.realpath(real);
        return this.#root === '' ? found : found.slice(this.#root.length);
      } catch (thrown) {
        if (isMissing(thrown)) return undefined;
        throw thrown;
      }
    });
  }

  async *walk(path: string, options: { readonly digestUpTo?: number } = {}): AsyncGenerator<TreeEntry> {
    try {
      yield* walkTree(this.#fs, this.#real(path), options.digestUpTo ?? 0);
    } catch (thrown) {
      if (!isMissing(thrown)) throw fileError(thrown, { what: 'walking', path });
    }
  }

  async removeTree(path: string, options: RemoveTreeOptions = {}): Promise<RemoveTreeResult> {
    const access = { fs: this.#fs, privateView: this.#privateView };
    const result = await this.#act('removing', path, (real) => removeTree(access, real, options));
    return { ...result, left: result.left.map((left) => ({ ...left, path: left.path.slice(this.#root.length) })) };
  }
}
