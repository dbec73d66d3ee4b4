// An open directory, and what lies in it reached through its descriptor: a path that is swapped for a link or mounted over meanwhile leads nowhere else.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { FileType } from '../host.ts';
import type { FileSystem } from './file-system.ts';

export interface NamedEntry {
  readonly name: Buffer;
  /** The name as text: UTF-8, odd bytes as \xNN. */
  readonly text: string;
  /** What the directory itself says, so without asking what may be mounted there. */
  readonly type: FileType;
}

const strict = new TextDecoder('utf-8', { fatal: true });

function nameText(name: Buffer): string {
  try {
    return strict.decode(name);
  } catch {
    const escaped = [...name].map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`));
    return escaped.join('');
  }
}

interface Typed {
  isDirectory(): boolean;
  isFile(): boolean;
  isSymbolicLink(): boolean;
}

export function fileType(entry: Typed): FileType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

export class DirectoryHandle {
  readonly #fs: FileSystem;
  readonly #handle: FileHandle;
  /** Which mount it lies on: differs for everything mounted elsewhere, bind mounts of the same file system included. */
  readonly mountId: string;

  private constructor(fs: FileSystem, handle: FileHandle, mountId: string) {
    this.#fs = fs;
    this.#handle = handle;
    this.mountId = mountId;
  }

  static async open(fs: FileSystem, path: string | Buffer): Promise<DirectoryHandle> {
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const info = await fs.readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8');
      const mountId = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
      if (mountId === undefined) throw new Error('/proc/self/fdinfo tells no mount id');
      return new DirectoryHandle(fs, handle, mountId);
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  /** Device and inode. */
  async identity(): Promise<string> {
    const { dev, ino } = await this.#handle.stat({ bigint: true });
    return `${dev}:${ino}`;
  }

  at(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`/proc/self/fd/${this.#handle.fd}/`), name]);
  }

  openChild(name: Buffer): Promise<DirectoryHandle> {
    return DirectoryHandle.open(this.#fs, this.at(name));
  }

  async entries(): Promise<NamedEntry[]> {
    const found = await this.#fs.readdir(`/proc/self/fd/${this.#handle.fd}`, {
      withFileTypes: true,
      encoding: 'buffer',
    });
    const named = found.map((entry) => ({ name: entry.name, text: nameText(entry.name), type: fileType(entry) }));
    return named.sort((a, b) => Buffer.compare(a.name, b.name));
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
