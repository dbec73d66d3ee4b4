// Opens a bundle for random access: finds its members by their tar headers, checks signature, version and completeness, reads no blob.
import type { KeyObject } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Digest } from '../../lib/digest.ts';
import type { Platform } from '../manifest.ts';
import type { BundleDescription } from './description.ts';

export interface OpenBundleOptions {
  /** Public keys beside the built-in release keys (src/release/trust.ts). */
  readonly trustKeys?: readonly KeyObject[];
  /** Accept a bundle without a signature, or signed by a key nobody here trusts. A signature of a trusted key that is wrong is never accepted. */
  readonly allowUnsigned?: boolean;
  /** The bundle must have these; e.g. the platform of the machine it is loaded on. */
  readonly platforms?: readonly Platform[];
}

export type SignatureState =
  | { readonly state: 'trusted' /** SHA256:<base64> of the key. */; readonly key: string }
  | { readonly state: 'unsigned' }
  | { readonly state: 'untrusted'; readonly keys: readonly string[] };

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
  /** A whole blob, verified; refuses one larger than `maxBytes` (default 4 MiB, the registry's own limit for manifests). */
  readBlob(digest: Digest, maxBytes?: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** @throws BkeError BKE_BUNDLE_*: each fault has its own sentence; nothing is read beyond headers and bundle.json. */
export async function openBundle(_path: string, _options: OpenBundleOptions = {}): Promise<Bundle> {
  throw new Error('not built yet');
}
