// Finds the members of a tar file by jumping from header to header: whoever opens a bundle reads some KiB, not GiBs.
import type { FileHandle } from 'node:fs/promises';
import { BkeError } from '../../lib/errors.ts';
import { quoted } from '../../lib/text.ts';
import { plural } from '../../lib/text.ts';
import { blockSize, decodeHeader, decodePax, paddingOf, type TarHeader } from './tar-header.ts';

export interface TarMember {
  readonly name: string;
  /** Where its bytes begin in the file. */
  readonly offset: number;
  readonly size: number;
}

/** Longest pax header or long name that is believed. */
const extensionLimit = 64 * 1024;

interface Extension {
  readonly name?: string;
  readonly size?: number;
}

/**
 * All members in their order. `path` is only for messages.
 * @throws BkeError BKE_BUNDLE_TRUNCATED, _DAMAGED, _UNSAFE_NAME, _DUPLICATE: a bundle has nothing but plain files with plain names, each once.
 */
export async function indexTar(file: FileHandle, path: string): Promise<TarMember[]> {
  const reader = new TarReader(file, (await file.stat()).size, path);
  const members: TarMember[] = [];
  const names = new Set<string>();
  for (;;) {
    const member = await reader.next();
    if (member === undefined) return members;
    if (names.has(member.name)) {
      throw new BkeError('BKE_BUNDLE_DUPLICATE', `${path} has two members named ${quoted(member.name)}`);
    }
    names.add(member.name);
    members.push(member);
  }
}

class TarReader {
  readonly #file: FileHandle;
  readonly #fileSize: number;
  readonly #path: string;
  #position = 0;

  constructor(file: FileHandle, fileSize: number, path: string) {
    this.#file = file;
    this.#fileSize = fileSize;
    this.#path = path;
  }

  async next(): Promise<TarMember | undefined> {
    let extension: Extension = {};
    for (;;) {
      const header = await this.#header();
      if (header === undefined) return undefined;
      if (header.type === 'x' || header.type === 'L') {
        extension = { ...extension, ...(await this.#extension(header)) };
        continue;
      }
      return this.#member({ ...header, ...extension });
    }
  }

  async #member(header: TarHeader): Promise<TarMember> {
    const unsafe = unsafeBecause(header);
    if (unsafe !== undefined) throw new BkeError('BKE_BUNDLE_UNSAFE_NAME', `${this.#path}: ${unsafe}`);
    const member = { name: header.name, offset: this.#position, size: header.size };
    await this.#skip(header);
    return member;
  }

  async #header(): Promise<TarHeader | undefined> {
    const at = this.#position;
    if (at === 0 && this.#fileSize < blockSize) throw this.#noBundle(`it has ${plural(this.#fileSize, 'byte')}`);
    const header = decodeHeader(await this.#read(blockSize, 'the next header'));
    if (header === 'damaged')
      throw this.#damaged(at, at === 0 ? 'this is no tar file, so no bundle' : 'the header is damaged');
    if (header !== undefined) return header;
    await this.#expectNothingMore(at);
    return undefined;
  }

  /** Padding is part of the file too: a byte in it that is not zero was not written by bke. */
  async #skip(header: TarHeader): Promise<void> {
    const end = this.#position + header.size;
    const padding = paddingOf(header.size);
    if (!Number.isSafeInteger(end) || end + padding > this.#fileSize) throw this.#truncated(quoted(header.name), end);
    this.#position = end;
    if (padding === 0) return;
    const bytes = await this.#read(padding, 'padding');
    if (bytes.some((byte) => byte !== 0))
      throw this.#damaged(end, `the padding after ${quoted(header.name)} is not empty`);
  }

  async #extension(header: TarHeader): Promise<Extension> {
    const at = this.#position;
    if (header.size > extensionLimit) throw this.#damaged(at, 'an extended header is too large to be one');
    const padded = await this.#read(header.size + paddingOf(header.size), 'an extended header');
    const bytes = padded.subarray(0, header.size);
    if (padded.subarray(header.size).some((byte) => byte !== 0)) throw this.#damaged(at, 'padding is not empty');
    if (header.type === 'L') return { name: bytes.toString('utf8').replace(/\0+$/, '') };
    const extension = paxExtension(bytes);
    if (extension === undefined) throw this.#damaged(at, 'an extended header is damaged');
    return extension;
  }

  async #expectNothingMore(at: number): Promise<void> {
    await this.#read(blockSize, 'the end mark');
    this.#position = at;
    while (this.#position < this.#fileSize) {
      const bytes = await this.#read(Math.min(1024 * 1024, this.#fileSize - this.#position), 'the end mark');
      if (bytes.some((byte) => byte !== 0)) throw this.#damaged(at, 'there is something after the end mark');
    }
  }

  async #read(length: number, what: string): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await this.#file.read(buffer, 0, length, this.#position);
    if (bytesRead < length) throw this.#truncated(what, this.#position + length);
    this.#position += length;
    return buffer;
  }

  #noBundle(reason: string): BkeError {
    return new BkeError('BKE_BUNDLE_FORMAT', `${this.#path} is no bundle: ${reason}`, {
      hint: "A bundle is the tar file that 'bke bundle build' writes.",
    });
  }

  #damaged(at: number, what: string): BkeError {
    return new BkeError('BKE_BUNDLE_DAMAGED', `${this.#path} is damaged at byte ${at}: ${what}`, { hint: copyAgain });
  }

  #truncated(what: string, end: number): BkeError {
    return new BkeError(
      'BKE_BUNDLE_TRUNCATED',
      `${this.#path} is cut off: it has ${this.#fileSize} bytes, but ${what} needs bytes up to ${end}`,
      { hint: copyAgain },
    );
  }
}

const copyAgain = 'Copy or download the bundle again; its size tells whether the copy is whole.';

const otherTypes: Readonly<Record<string, string>> = {
  '1': 'is a hard link',
  '2': 'is a symbolic link',
  '3': 'is a device',
  '4': 'is a device',
  '5': 'is a directory',
  '6': 'is a named pipe',
};

function unsafeBecause({ name, type }: TarHeader): string | undefined {
  if (type !== '0')
    return `the member ${quoted(name)} ${otherTypes[type] ?? `is of the unknown type ${quoted(type)}`}; a bundle has only plain files`;
  if (name.startsWith('/')) return `the member ${quoted(name)} has an absolute name`;
  const parts = name.split('/');
  if (parts.includes('..')) return `the name ${quoted(name)} leads out of the bundle`;
  if (parts.some((part) => part === '' || part === '.')) return `the name ${quoted(name)} is not in its plain form`;
  return undefined;
}

/** undefined where it is damaged. */
function paxExtension(bytes: Buffer): Extension | undefined {
  const records = decodePax(bytes);
  const size = records?.get('size');
  const name = records?.get('path');
  if (records === undefined || (size !== undefined && !/^\d{1,15}$/.test(size))) return undefined;
  return { ...(name === undefined ? {} : { name }), ...(size === undefined ? {} : { size: Number(size) }) };
}
