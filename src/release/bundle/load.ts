// Loads a bundle: images into a registry, files and charts into the file repository; what is there already is skipped.
import type { RegistryClient } from '../oci/registry-client.ts';
import type { FileRepository } from '../repository/store.ts';
import type { Bundle } from './open.ts';

export interface LoadTargets {
  /** Where images go, each under the name of its source registry: docker.io/library/x -> docker.io/library/x:tag in this registry. */
  readonly registry?: RegistryClient;
  /** Where files and charts go. */
  readonly files?: FileRepository;
}

export interface LoadOptions {
  readonly signal?: AbortSignal;
  /** Blobs on their way at once. Default 4. */
  readonly concurrency?: number;
  /** Bytes handled so far (skipped ones count as handled) of all that the bundle has for these targets. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number; readonly item: string }) => void;
  /** Replace a chart of the same name and version with other content instead of refusing it. */
  readonly force?: boolean;
}

export interface LoadCount {
  readonly loaded: number;
  readonly present: number;
}

export interface LoadReport {
  readonly files: LoadCount;
  readonly charts: LoadCount;
  readonly images: LoadCount;
  /** Bytes that were really written or sent. */
  readonly bytes: number;
  readonly changed: boolean;
}

/** Bytes each target will hold, for free-space checks before anything is loaded. */
export function loadSizes(_bundle: Bundle): { readonly registry: number; readonly files: number } {
  throw new Error('not built yet');
}

/** Running it again loads only what is missing. Nothing half-loaded is ever visible: tags come last, files are renamed into place. */
export async function loadBundle(
  _bundle: Bundle,
  _targets: LoadTargets,
  _options: LoadOptions = {},
): Promise<LoadReport> {
  throw new Error('not built yet');
}
