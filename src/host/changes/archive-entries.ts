// Reads a .tar, .tar.gz or .tar.zst as a stream of checked entries: nothing in it can lead out of the folder it is unpacked to.
import { posix } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { digesting } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import type { ArchiveChange } from './change.ts';

const maxEntries = 200_000;
const maxBytes = 16 * 2 ** 30;

export type ArchiveEntry =
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'file'; readonly path: string; readonly mode: number; readonly body: AsyncIterable<Uint8Array> }
  | { readonly type: 'link'; readonly path: string; readonly target: string }
  /** A hard link: the content of an earlier file. */
  | { readonly type: 'copy'; readonly path: string; readonly of: string };

function unsafe(source: string, why: string): BkeError {
  return new BkeError('BKE_ARCHIVE_UNSAFE', `${source} ${why}`);
}

async function decompressor(host: Host, source: string) {
  const chunks: AsyncIterable<Buffer> = host.files.stream(source);
  for await (const chunk of chunks) {
    const head = chunk.toString('hex', 0, 4);
    if (head.startsWith('1f8b')) return createGunzip();
    if (head === '28b52ffd') return createZstdDecompress();
    break;
  }
  return new PassThrough();
}

/** The reader's entries are iterable; its types do not say so. */
function bodyOf(entry: object): AsyncIterable<Uint8Array> {
  if (isIterable(entry)) return entry;
  throw new Error('an entry of an archive cannot be read');
}

function isIterable(entry: object): entry is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in entry;
}

/** Checks names and links against all that came before in the archive. */
class Checker {
  readonly #source: string;
  readonly #strip: number;
  readonly #links = new Set<string>();
  readonly #files = new Set<string>();
  #entries = 0;
  #bytes = 0;

  constructor(source: string, strip: number) {
    this.#source = source;
    this.#strip = strip;
  }

  /** undefined: the entry is stripped away as a whole. */
  check(header: Header, body: AsyncIterable<Uint8Array>): ArchiveEntry | undefined {
    this.#count(header);
    const path = this.#inside(header.name);
    if (path === undefined) return undefined;
    if (header.type === 'directory') return { type: 'directory', path };
    if (header.type === 'symlink') return this.#link(path, header.linkname);
    if (header.type === 'link') return this.#copy(path, header.linkname);
    if (header.type !== 'file' && header.type !== 'contiguous-file') {
      throw unsafe(this.#source, `holds a ${header.type}: ${header.name}`);
    }
    this.#files.add(path);
    return { type: 'file', path, mode: (header.mode & 0o111) === 0 ? 0o644 : 0o755, body };
  }

  #count(header: Header): void {
    this.#entries += 1;
    this.#bytes += header.size;
    if (this.#entries > maxEntries) throw unsafe(this.#source, `has more than ${maxEntries} entries`);
    if (this.#bytes > maxBytes) throw unsafe(this.#source, `unpacks to more than ${maxBytes} bytes`);
  }

  #inside(name: string): string | undefined {
    const parts = name.split('/').filter((part) => part !== '' && part !== '.');
    if (name.startsWith('/') || parts.includes('..')) throw unsafe(this.#source, `leads out of its folder: ${name}`);
    const kept = parts.slice(this.#strip);
    if (kept.length === 0) return undefined;
    for (let depth = 1; depth < kept.length; depth += 1) {
      if (this.#links.has(kept.slice(0, depth).join('/'))) throw unsafe(this.#source, `puts ${name} behind a link`);
    }
    const path = kept.join('/');
    this.#links.delete(path);
    return path;
  }

  #link(path: string, target: string): ArchiveEntry {
    const leads = posix.normalize(posix.join(posix.dirname(path), target));
    if (target === '' || target.startsWith('/') || leads === '..' || leads.startsWith('../')) {
      throw unsafe(this.#source, `has a link that leads out of its folder: ${path} -> ${target}`);
    }
    this.#links.add(path);
    return { type: 'link', path, target };
  }

  #copy(path: string, linkname: string): ArchiveEntry {
    const of = this.#inside(linkname);
    if (of === undefined || !this.#files.has(of)) {
      throw unsafe(this.#source, `has a hard link to what it does not hold: ${path} -> ${linkname}`);
    }
    this.#files.add(path);
    return { type: 'copy', path, of };
  }
}

/**
 * Entries in their order; the body of a file must be read before the next entry is asked for. After the last one the digest of the whole
 * archive has been checked.
 * @throws BkeError BKE_ARCHIVE_UNSAFE, BKE_DIGEST_MISMATCH
 */
export async function* archiveEntries(host: Host, change: ArchiveChange): AsyncGenerator<ArchiveEntry> {
  const { source } = change;
  const checked = digesting(({ digest }) =>
    digest === change.digest
      ? undefined
      : new BkeError('BKE_DIGEST_MISMATCH', `${source} is ${digest}, expected ${change.digest}`),
  );
  const unpacked = extract();
  const flow = pipeline(host.files.stream(source), checked, await decompressor(host, source), unpacked);
  // The reader below meets the same error; without this one it would count as unhandled meanwhile.
  flow.catch(() => undefined);
  const checker = new Checker(source, change.strip ?? 0);
  try {
    for await (const entry of unpacked) {
      const found = checker.check(entry.header, bodyOf(entry));
      if (found !== undefined) yield found;
      entry.resume();
    }
  } catch (thrown) {
    throw readError(thrown, source);
  }
  await flow.catch((thrown: unknown) => {
    throw readError(thrown, source);
  });
}

function readError(thrown: unknown, source: string): unknown {
  if (thrown instanceof BkeError || !(thrown instanceof Error)) return thrown;
  return new BkeError('BKE_ARCHIVE_UNSAFE', `${source} cannot be read as an archive: ${thrown.message}`, {
    cause: thrown,
  });
}
