// What each resolver gets and gives: the wanted platforms, the ways to bytes, and an entry with the places of its bytes.
import type { ErrorCode } from '../../lib/error-table.ts';
import type { Platform, Source } from '../manifest.ts';
import type { BlobOrigin } from '../sources/blob-origin.ts';
import type { ImageSource } from '../sources/image-source.ts';
import type { BundleEntry } from './description.ts';

/** The ways to bytes, made once for a build. */
export interface Sources {
  /** A file or url, its digest checked where the manifest gives one. */
  file(source: Source): Promise<BlobOrigin>;
  image(source: Source, ref: string): ImageSource;
}

export interface Wanted {
  readonly platforms: readonly Platform[];
  readonly sources: Sources;
}

/** What an artifact becomes. */
export interface Resolved {
  readonly entry: BundleEntry;
  readonly blobs: readonly BlobOrigin[];
}

/** A fault of one artifact, to be told with those of the others. */
export class Unresolved extends Error {
  override readonly name = 'Unresolved';
  readonly code: ErrorCode;
  readonly faults: readonly string[];

  constructor(code: ErrorCode, faults: readonly string[]) {
    super(faults.join('; '));
    this.code = code;
    this.faults = faults;
  }
}
