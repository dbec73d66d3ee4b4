// Opens a bundle for random access: finds its members by their tar headers, checks signature, version and completeness, reads no blob.
import type { KeyObject } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { type Content, type Digest, verifying } from '../../lib/digest.ts';
import { whyUnreadable } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { fileChunks, readRange } from '../../lib/file-range.ts';
import { quoted } from '../../lib/text.ts';
import { bkeVersion } from '../../lib/version.ts';
import type { Platform } from '../manifest.ts';
import { builtInKeys } from '../trust.ts';
import { type BundleDescription, parseDescription } from './description.ts';
import {
  blobName,
  blobOf,
  descriptionName,
  indexContent,
  indexName,
  layoutContent,
  layoutName,
  signatureName,
} from './members.ts';
import { checkSignature, requireTrust, type SignatureState } from './signature.ts';
import { indexTar, type TarMember } from './tar-index.ts';
import { requirePlatforms, requireVersion } from './fitness.ts';

export interface OpenBundleOptions {
  /** Public keys beside the built-in release keys (src/release/trust.ts). */
  readonly trustKeys?: readonly KeyObject[];
  /** Accept a bundle without a signature, or signed by a key nobody here trusts. A signature of a trusted key that is wrong is never accepted. */
  readonly allowUnsigned?: boolean;
  /** The bundle must have these; e.g. the platform of the machine it is loaded on. */
  readonly platforms?: readonly Platform[];
}

export interface Bundle extends AsyncDisposable {
  readonly path: string;
  /** Bytes of the whole file. */
  readonly size: number;
  readonly description: BundleDescription;
  readonly signature: SignatureState;
  /** Size of a blob in bytes; undefined where the bundle doesn't have it. */
  sizeOf(digest: Digest): number | undefined;
  /** The blob from byte `offset` on. From 0 (the default) it is verified: the stream fails at its end where the bytes are not what the digest says. */
  blob(digest: Digest, offset?: number): Readable;
  /** The bytes of a blob as they are, for whoever hashes them himself. */
  chunks(digest: Digest): AsyncIterable<Buffer>;
  /** A whole blob, verified; refuses one larger than `maxBytes` (default 4 MiB, the registry's own limit for manifests). */
  readBlob(digest: Digest, maxBytes?: number): Promise<Buffer>;
  close(): Promise<void>;
}

const descriptionLimit = 16 * 1024 * 1024;

/** @throws BkeError BKE_BUNDLE_*: each fault has its own sentence; nothing is read beyond headers and bundle.json. */
export async function openBundle(path: string, options: OpenBundleOptions = {}): Promise<Bundle> {
  const file = await openFile(path);
  try {
    const members = await indexTar(file, path);
    const description = await checkDescription(file, members, { path, ...options });
    await checkMembers(file, members, description.value, path);
    return new OpenBundle(file, path, members, description);
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

const nameBundle = "Name the tar file that 'bke bundle build' wrote, at the place where it lies now.";

async function openFile(path: string): Promise<FileHandle> {
  try {
    // A named pipe would block the open for ever.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (cause) {
    const known = whyUnreadable(cause);
    throw new BkeError('BKE_BUNDLE_UNREADABLE', `cannot read the bundle ${path}: ${known ?? String(cause)}`, {
      cause: known === undefined ? cause : undefined,
      hint: nameBundle,
    });
  }
  throw new BkeError('BKE_BUNDLE_UNREADABLE', `cannot read the bundle ${path}: it is no plain file`, {
    hint: nameBundle,
  });
}

interface CheckedDescription {
  readonly value: BundleDescription;
  readonly signature: SignatureState;
}

/** Signature before content: what nobody has signed is not even parsed. */
async function checkDescription(
  file: FileHandle,
  members: readonly TarMember[],
  { path, trustKeys = [], allowUnsigned = false, platforms = [] }: OpenBundleOptions & { readonly path: string },
): Promise<CheckedDescription> {
  const [first, second] = members;
  if (first?.name !== descriptionName) {
    throw new BkeError(
      'BKE_BUNDLE_FORMAT',
      `${path} is a tar file but no bundle: it does not begin with ${descriptionName}`,
    );
  }
  const bytes = await readMember(file, first, descriptionLimit, path);
  const signatures = second?.name === signatureName ? await readMember(file, second, 64 * 1024, path) : undefined;
  const trusted = [...builtInKeys(), ...trustKeys];
  const signature = checkSignature(bytes, signatures?.toString('latin1'), trusted, path);
  if (!allowUnsigned) requireTrust(signature, trusted, path);
  const value = parseDescription(bytes, path);
  requireVersion(value, await bkeVersion(), path);
  requirePlatforms(value, platforms, path);
  return { value, signature };
}

async function readMember(file: FileHandle, member: TarMember, limit: number, path: string): Promise<Buffer> {
  if (member.size > limit)
    throw new BkeError('BKE_BUNDLE_FORMAT', `${path}: ${member.name} is larger than ${limit} bytes`);
  const buffer = Buffer.alloc(member.size);
  await file.read(buffer, 0, member.size, member.offset);
  return buffer;
}

/** Everything that bundle.json names is there in its size, and nothing else is. */
async function checkMembers(
  file: FileHandle,
  members: readonly TarMember[],
  description: BundleDescription,
  path: string,
): Promise<void> {
  const wanted = new Map<string, number>(description.blobs.map(({ digest, size }) => [blobName(digest), size]));
  const fixed = new Map([
    [layoutName, layoutContent],
    [indexName, indexContent(description)],
  ]);
  for (const [name, content] of fixed) wanted.set(name, content.length);
  for (const member of members.slice(members[1]?.name === signatureName ? 2 : 1)) {
    const size = wanted.get(member.name);
    const content = fixed.get(member.name);
    // Content before size: an image more in the index should be told by its name.
    if (content !== undefined && !(await readMember(file, member, descriptionLimit, path)).equals(content)) {
      throw new BkeError('BKE_BUNDLE_EXTRA', `${path}: ${member.name} does not list what bundle.json lists`, {
        hint: getAgain,
      });
    }
    if (size === undefined) {
      throw new BkeError('BKE_BUNDLE_EXTRA', `${path} has ${quoted(member.name)}, which bundle.json does not name`, {
        hint: getAgain,
      });
    }
    if (size !== member.size) {
      throw new BkeError(
        'BKE_BUNDLE_DAMAGED',
        `${path}: ${member.name} has ${member.size} bytes, bundle.json says ${size}`,
        { hint: getAgain },
      );
    }
    wanted.delete(member.name);
  }
  const [missing] = wanted.keys();
  if (missing === undefined) return;
  throw new BkeError('BKE_BUNDLE_INCOMPLETE', `${path} lacks ${missing}, which bundle.json names`, { hint: getAgain });
}

const getAgain = 'Get the bundle again from where it was built.';

class OpenBundle implements Bundle {
  readonly path: string;
  readonly size: number;
  readonly description: BundleDescription;
  readonly signature: SignatureState;
  readonly #file: FileHandle;
  readonly #blobs: ReadonlyMap<Digest, TarMember>;

  constructor(file: FileHandle, path: string, members: readonly TarMember[], { value, signature }: CheckedDescription) {
    this.#file = file;
    this.path = path;
    this.description = value;
    this.signature = signature;
    const last = members.at(-1);
    this.size = last === undefined ? 0 : last.offset + last.size;
    this.#blobs = new Map(
      members.flatMap((member) => {
        const digest = blobOf(member.name);
        return digest === undefined ? [] : [[digest, member] as const];
      }),
    );
  }

  sizeOf(digest: Digest): number | undefined {
    return this.#blobs.get(digest)?.size;
  }

  blob(digest: Digest, offset = 0): Readable {
    const { offset: start, size } = this.#member(digest);
    if (offset >= size) return Readable.from([]);
    const bytes = readRange(this.#file, start + offset, size - offset);
    return offset === 0 ? this.#verified(bytes, { digest, size }) : bytes;
  }

  #verified(bytes: Readable, content: Content): Readable {
    const verify = verifying(content, (actual) => {
      const found = actual.size === content.size ? actual.digest : `${actual.digest} (${actual.size} bytes)`;
      return new BkeError('BKE_BUNDLE_DAMAGED', `${this.path} is damaged: the blob ${content.digest} is ${found}`, {
        hint: getAgain,
      });
    });
    return pipeline(bytes, verify, () => undefined);
  }

  chunks(digest: Digest): AsyncIterable<Buffer> {
    const { offset, size } = this.#member(digest);
    return fileChunks(this.#file, offset, size);
  }

  async readBlob(digest: Digest, maxBytes = 4 * 1024 * 1024): Promise<Buffer> {
    const { size } = this.#member(digest);
    if (size > maxBytes)
      throw new BkeError(
        'BKE_BUNDLE_DAMAGED',
        `${this.path}: the blob ${digest} should be small but has ${size} bytes`,
      );
    return Buffer.concat(await this.blob(digest).toArray());
  }

  #member(digest: Digest): TarMember {
    const member = this.#blobs.get(digest);
    if (member === undefined) throw new BkeError('BKE_BUNDLE_INCOMPLETE', `${this.path} lacks the blob ${digest}`);
    return member;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
