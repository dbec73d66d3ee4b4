// An image's source: a layout folder or a registry, read the same way.
import type { BlobOrigin } from './blob-origin.ts';
import type { Descriptor, StoredManifest } from '../oci/types.ts';

export interface ImageSource {
  /** For messages. */
  readonly where: string;
  /** The manifest or index that the source stands for. */
  root(): Promise<StoredManifest>;
  /** A manifest that an index names; undefined where the source doesn't have it after all. */
  manifest(descriptor: Descriptor): Promise<StoredManifest | undefined>;
  /** undefined where the source doesn't have it. Bytes of a registry are fetched only when this is asked. */
  blob(descriptor: Descriptor): Promise<BlobOrigin | undefined>;
}
