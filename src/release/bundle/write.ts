// Writes the bundle file: bundle.json first, then the layout, blobs by digest; equal input gives equal bytes.
import { createHash, type KeyObject } from 'node:crypto';
import { mkdir, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomically } from '../../lib/atomic-file.ts';
import type { Content, Digest } from '../../lib/digest.ts';
import { namingFullDisk, requireFreeSpace } from '../../lib/disk.ts';
import { BkeError } from '../../lib/errors.ts';
import type { BlobOrigin } from '../sources/blob-origin.ts';
import type { BundleDescription } from './description.ts';
import {
  blobName,
  descriptionName,
  indexContent,
  indexName,
  jsonBytes,
  layoutContent,
  layoutName,
  signatureName,
} from './members.ts';
import { signatureLine } from './signature.ts';
import { archiveEnd, encodeHeader, paddingOf } from './tar-header.ts';

export interface BundleContent {
  readonly description: BundleDescription;
  readonly blobs: ReadonlyMap<Digest, BlobOrigin>;
  readonly signKey?: KeyObject | undefined;
}

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onBytes: (written: number, total: number, blob: string) => void;
}

interface Member {
  readonly name: string;
  readonly content: Buffer | BlobOrigin;
}

/** @returns size and digest of the file. @throws BkeError BKE_DISK_FULL, BKE_DIGEST_MISMATCH (a source changed meanwhile). */
export async function writeBundle(path: string, content: BundleContent, options: WriteOptions): Promise<Content> {
  const members = membersOf(content);
  const total = members.reduce((sum, member) => sum + sizeInTar(member), archiveEnd.length);
  await mkdir(dirname(path), { recursive: true });
  await requireFreeSpace(dirname(path), total, `the bundle ${path}`);
  const output: { writer?: TarWriter } = {};
  try {
    await writeAtomically(path, 0o644, async (file) => {
      const writer = new TarWriter(file, total, options);
      for (const member of members) await writer.add(member);
      await writer.end();
      output.writer = writer;
    });
  } catch (thrown) {
    throw namingFullDisk(thrown, path, total);
  }
  if (output.writer === undefined) throw new Error('the bundle was not written');
  return output.writer.content;
}

function membersOf({ description, blobs, signKey }: BundleContent): Member[] {
  const bytes = jsonBytes(description);
  const signature =
    signKey === undefined ? [] : [{ name: signatureName, content: Buffer.from(signatureLine(bytes, signKey)) }];
  const sorted = [...blobs.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1));
  return [
    { name: descriptionName, content: bytes },
    ...signature,
    { name: layoutName, content: layoutContent },
    { name: indexName, content: indexContent(description) },
    ...sorted.map((blob) => ({ name: blobName(blob.digest), content: blob })),
  ];
}

function sizeOf({ content }: Member): number {
  return Buffer.isBuffer(content) ? content.length : content.size;
}

function sizeInTar(member: Member): number {
  const size = sizeOf(member);
  return encodeHeader(member.name, size).length + size + paddingOf(size);
}

class TarWriter {
  readonly #file: FileHandle;
  readonly #total: number;
  readonly #options: WriteOptions;
  readonly #hash = createHash('sha256');
  #written = 0;

  constructor(file: FileHandle, total: number, options: WriteOptions) {
    this.#file = file;
    this.#total = total;
    this.#options = options;
  }

  get content(): Content {
    return { size: this.#written, digest: `sha256:${this.#hash.copy().digest('hex')}` };
  }

  async add(member: Member): Promise<void> {
    const size = sizeOf(member);
    await this.#write(encodeHeader(member.name, size));
    await (Buffer.isBuffer(member.content) ? this.#write(member.content) : this.#copy(member.content));
    await this.#write(Buffer.alloc(paddingOf(size)));
  }

  async end(): Promise<void> {
    await this.#write(archiveEnd);
  }

  async #copy(blob: BlobOrigin): Promise<void> {
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of blob.open()) {
      this.#options.signal?.throwIfAborted();
      if (!Buffer.isBuffer(chunk)) throw new Error(`${blob.where} gives no bytes`);
      size += chunk.length;
      hash.update(chunk);
      if (size <= blob.size) await this.#write(chunk);
      this.#options.onBytes(this.#written, this.#total, blob.where);
    }
    const digest: Digest = `sha256:${hash.digest('hex')}`;
    if (digest === blob.digest && size === blob.size) return;
    throw new BkeError(
      'BKE_DIGEST_MISMATCH',
      `${blob.where} should be ${blob.digest} (${blob.size} bytes) but is ${digest} (${size} bytes)`,
      {
        hint: 'It was changed or damaged. Get that one file again; nothing was written.',
      },
    );
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    let done = 0;
    while (done < bytes.length) done += (await this.#file.write(bytes, done)).bytesWritten;
    this.#written += bytes.length;
  }
}

/** All blobs of a bundle in the order of bundle.json. */
export function blobList(blobs: ReadonlyMap<Digest, BlobOrigin>): Content[] {
  return [...blobs.values()]
    .map(({ digest, size }) => ({ digest, size }))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1));
}
