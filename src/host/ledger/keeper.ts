// Keeps what was there before us and what someone made of ours: originals by digest beside the ledger, edited files in /var/lib/bke-kept.
import { dirname, join } from 'node:path';
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Keeper } from '../changes/change.ts';
import { removeDrafts } from '../changes/file-state.ts';
import type { FileAttributes, FileStat, Host } from '../host.ts';

export const rootOnlyFile: FileAttributes = { mode: 0o600, uid: 0, gid: 0 };
export const rootOnlyDirectory: FileAttributes = { mode: 0o700, uid: 0, gid: 0 };

/** Makes a directory and what is missing above it. */
export async function makeDirectories(host: Host, path: string, attributes: FileAttributes): Promise<void> {
  if ((await host.files.stat(path)) !== undefined) return;
  if (dirname(path) !== path) await makeDirectories(host, dirname(path), attributes);
  await removeDrafts(host, path);
  await host.files.makeDirectory(path, attributes);
}

function hexOf(digest: string): string {
  return digest.slice(digest.indexOf(':') + 1);
}

interface Copy {
  readonly stat: FileStat;
  /** sha256:<hex> of a file, the target of a link. */
  readonly content: string;
}

/** A file or link at another path, like the original to the last digit of its time. */
async function copy(host: Host, from: string, to: string): Promise<Copy> {
  const stat = await host.files.stat(from);
  if (stat === undefined || (stat.type !== 'file' && stat.type !== 'link'))
    throw new Error(`${from} is no file or link`);
  if (stat.type === 'link') {
    const content = await host.files.readLink(from);
    await host.files.link(to, content);
    return { stat, content };
  }
  await host.files.write(to, host.files.stream(from), stat);
  return { stat, content: await host.files.digest(to) };
}

export interface KeeperOptions {
  readonly stateDir: string;
  /** Names the folder below /var/lib/bke-kept. */
  readonly operation: string;
  readonly now: () => Date;
}

function keptDirectory(stateDir: string): string {
  return `${stateDir}-kept`;
}

/** Where the store keeps what has this digest. */
export function originalPath(stateDir: string, digest: string): string {
  return join(stateDir, 'ledger', 'originals', hexOf(digest));
}

export class StoreKeeper implements Keeper {
  readonly #host: Host;
  readonly #store: string;
  readonly #kept: string;

  constructor(host: Host, options: KeeperOptions) {
    this.#host = host;
    this.#store = join(options.stateDir, 'ledger', 'originals');
    const time = options
      .now()
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, '');
    this.#kept = join(keptDirectory(options.stateDir), `${time}-${options.operation}`);
  }

  original(digest: string): string {
    return join(this.#store, hexOf(digest));
  }

  async keepOriginal(path: string): Promise<string> {
    const digest = await this.#host.files.digest(path);
    await this.#put(digest, () =>
      this.#host.files.write(this.original(digest), this.#host.files.stream(path), rootOnlyFile),
    );
    return digest;
  }

  async keepText(text: string): Promise<string> {
    const digest = digestOf(text);
    await this.#put(digest, () => this.#host.files.write(this.original(digest), text, rootOnlyFile));
    return digest;
  }

  async moveAside(path: string): Promise<string> {
    const keptAt = await this.copyAside(path);
    await this.#host.files.remove(path);
    return keptAt;
  }

  /** Like moveAside, and leaves it where it is: what comes next replaces it in one step. */
  async copyAside(path: string): Promise<string> {
    const keptAt = await this.#freePath(join(this.#kept, path));
    await makeDirectories(this.#host, dirname(keptAt), rootOnlyDirectory);
    const copied = await copy(this.#host, path, keptAt);
    if (copied.stat.type === 'file' && copied.content !== (await this.#host.files.digest(path))) {
      throw new BkeError('BKE_SYSTEM', `${path} changes while it is copied to ${keptAt}`);
    }
    return keptAt;
  }

  /** Never over what was kept a moment ago. */
  async #freePath(path: string): Promise<string> {
    let free = path;
    for (let count = 2; (await this.#host.files.stat(free)) !== undefined; count += 1) free = `${path}.${count}`;
    return free;
  }

  async #put(digest: string, write: () => Promise<void>): Promise<void> {
    const path = this.original(digest);
    const there = await this.#host.files.stat(path);
    if (there !== undefined && (await this.#host.files.digest(path)) === digest) return;
    await makeDirectories(this.#host, this.#store, rootOnlyDirectory);
    await write();
    if ((await this.#host.files.digest(path)) === digest) return;
    throw new BkeError('BKE_SYSTEM', `a file changes while its original is copied to ${path}`, {
      hint: 'Find out what writes to it, then run the same command again.',
    });
  }
}

/** For plans: knows what would be kept and keeps nothing. */
export class PreviewKeeper implements Keeper {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  keepOriginal(path: string): Promise<string> {
    return this.#host.files.digest(path);
  }

  async keepText(text: string): Promise<string> {
    return digestOf(text);
  }

  original(): string {
    throw new Error('a plan has no originals');
  }

  moveAside(path: string): Promise<string> {
    throw new Error(`a plan does not move ${path}`);
  }
}
