// Loads a bundle: images into a registry, files and charts into the file repository; what is there already is skipped.
import { eachLimited } from '../../lib/limit.ts';
import type { Content } from '../../lib/digest.ts';
import { requireFreeSpace } from '../../lib/disk.ts';
import { missingParts } from '../oci/missing-parts.ts';
import { localRepository, parseReference } from '../oci/reference.ts';
import type { RegistryClient } from '../oci/registry-client.ts';
import type { Area, FileRepository, NewFile } from '../repository/store.ts';
import type { ImageEntry } from './description.ts';
import { type Progress, reporter } from './progress.ts';
import { type ImageContent, readImage } from './image-content.ts';
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
  readonly onProgress?: (progress: Progress) => void;
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
export async function loadSizes(bundle: Bundle): Promise<{ readonly registry: number; readonly files: number }> {
  const images = await imagesOf(bundle);
  return {
    registry: sizeOf(images.flatMap(({ content }) => content.blobs)),
    files: sizeOf(filesOf(bundle).map(({ file }) => file)),
  };
}

/** Everything that the bundle's images put into a registry's store: manifests, configs and layers, each once. */
export async function imageBlobs(bundle: Bundle): Promise<Content[]> {
  const images = await imagesOf(bundle);
  const all = images.flatMap(({ content: { manifests, blobs } }) => [
    ...manifests.map(({ digest, bytes }) => ({ digest, size: bytes.length })),
    ...blobs,
  ]);
  return [...new Map(all.map((each) => [each.digest, each])).values()];
}

/**
 * Running it again loads only what is missing. Nothing half-loaded is ever visible: tags come last, files are renamed into place.
 * @throws BkeError BKE_BUNDLE_*, BKE_DISK_FULL, BKE_CHART_CONFLICT, BKE_REGISTRY_*
 */
export async function loadBundle(bundle: Bundle, targets: LoadTargets, options: LoadOptions = {}): Promise<LoadReport> {
  return new Load(bundle, targets, options).run();
}

interface FileToLoad {
  readonly area: Area;
  readonly file: NewFile;
}

interface ImageToLoad {
  readonly entry: ImageEntry;
  readonly repository: string;
  readonly tag: string;
  readonly content: ImageContent;
}

/** Each path once: a file without {platform} in its path is listed for every platform. */
function filesOf({ description }: Pick<Bundle, 'description'>): FileToLoad[] {
  const all = new Map<string, FileToLoad>();
  for (const entry of description.entries) {
    if (entry.kind === 'chart') {
      const { file: path, digest, size } = entry;
      all.set(`charts/${path}`, { area: 'charts', file: { path, digest, size } });
    } else if (entry.kind === 'file') {
      for (const { path, digest, size } of Object.values(entry.variants)) {
        all.set(`files/${path}`, { area: 'files', file: { path, digest, size } });
      }
    }
  }
  return [...all.values()];
}

async function imagesOf(bundle: Bundle): Promise<ImageToLoad[]> {
  const entries = bundle.description.entries.filter((entry) => entry.kind === 'image');
  return Promise.all(
    entries.map(async (entry) => {
      const reference = parseReference(entry.ref);
      const tag = reference.tag ?? entry.digest;
      return { entry, repository: localRepository(reference), tag, content: await readImage(bundle, entry) };
    }),
  );
}

/** Each digest once. */
function sizeOf(contents: readonly Content[]): number {
  return [...new Map(contents.map(({ digest, size }) => [digest, size])).values()].reduce((sum, size) => sum + size, 0);
}

interface Counter {
  loaded: number;
  present: number;
}

class Load {
  readonly #bundle: Bundle;
  readonly #targets: LoadTargets;
  readonly #options: LoadOptions;
  readonly #counts = { files: counter(), charts: counter(), images: counter() };
  readonly #report: (progress: Progress) => void;
  /** A repository that surely has the blob: others can take it from there without sending it. */
  readonly #home = new Map<string, string>();
  #done = 0;
  #total = 0;
  #bytes = 0;

  constructor(bundle: Bundle, targets: LoadTargets, options: LoadOptions) {
    this.#bundle = bundle;
    this.#targets = targets;
    this.#options = options;
    this.#report = reporter(options.onProgress);
  }

  async run(): Promise<LoadReport> {
    const { files: repository, registry } = this.#targets;
    const files = repository === undefined ? [] : filesOf(this.#bundle);
    // Manifests are read, and so checked, before anything is written anywhere.
    const images = registry === undefined ? [] : await imagesOf(this.#bundle);
    this.#total =
      sum(files.map(({ file }) => file.size)) +
      sum(images.flatMap(({ content }) => content.blobs.map(({ size }) => size)));
    if (repository !== undefined) await this.#loadFiles(repository, files);
    if (registry !== undefined) await this.#loadImages(registry, images);
    const { files: fileCount, charts, images: imageCount } = this.#counts;
    const changed = fileCount.loaded + charts.loaded + imageCount.loaded > 0;
    return { files: fileCount, charts, images: imageCount, bytes: this.#bytes, changed };
  }

  async #loadFiles(repository: FileRepository, files: readonly FileToLoad[]): Promise<void> {
    const missing: FileToLoad[] = [];
    for (const each of files) {
      if ((await repository.find(each.area, each.file.path))?.digest !== each.file.digest) missing.push(each);
    }
    await requireFreeSpace(
      repository.dir,
      sizeOf(missing.map(({ file }) => file)),
      `the files of ${this.#bundle.path}`,
    );
    await eachLimited(files, this.#options.concurrency ?? 4, (each) => this.#loadFile(repository, each));
  }

  async #loadFile(repository: FileRepository, { area, file }: FileToLoad): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const item = `${area}/${file.path}`;
    const meter = this.#meter(item);
    const { force = false, signal } = this.#options;
    const added = await repository.add(area, file, () => this.#bundle.blob(file.digest), {
      force,
      signal,
      onBytes: meter,
    });
    if (added) this.#bytes += file.size;
    else meter(file.size);
    count(this.#counts[area], added);
  }

  async #loadImages(registry: RegistryClient, images: readonly ImageToLoad[]): Promise<void> {
    const missing: ImageToLoad[] = [];
    for (const image of images) {
      this.#options.signal?.throwIfAborted();
      const { repository, tag, entry } = image;
      if ((await missingParts(registry, { repository, tag, digest: entry.digest })).length === 0) {
        for (const { digest } of image.content.blobs) this.#home.set(digest, image.repository);
        this.#meter(image.entry.ref)(sum(image.content.blobs.map(({ size }) => size)));
        count(this.#counts.images, false);
      } else missing.push(image);
    }
    await this.#pushBlobs(registry, missing);
    for (const image of missing) await this.#pushManifests(registry, image);
  }

  /** A blob that several images need is sent once, to the first; the others take it from there afterwards. */
  async #pushBlobs(registry: RegistryClient, images: readonly ImageToLoad[]): Promise<void> {
    const first = new Map<string, PlacedBlob>();
    const again: PlacedBlob[] = [];
    for (const { repository, content, entry } of images) {
      for (const blob of content.blobs) {
        const placed = { ...blob, repository, item: entry.ref };
        if (first.has(blob.digest) || this.#home.has(blob.digest)) again.push(placed);
        else first.set(blob.digest, placed);
      }
    }
    const limit = this.#options.concurrency ?? 4;
    await eachLimited([...first.values()], limit, (blob) => this.#pushBlob(registry, blob));
    await eachLimited(again, limit, (blob) => this.#pushBlob(registry, blob));
  }

  async #pushBlob(registry: RegistryClient, { digest, size, repository, item }: PlacedBlob): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const meter = this.#meter(item);
    let metered = 0;
    const outcome = await registry.pushBlob(repository, {
      digest,
      size,
      mountFrom: this.#home.get(digest),
      signal: this.#options.signal,
      source: (offset) => this.#bundle.blob(digest, offset),
      onBytes: (sent) => {
        // After a restart the same bytes pass again.
        if (sent <= metered) return;
        meter(sent - metered);
        metered = sent;
      },
    });
    meter(size - metered);
    if (outcome === 'sent') this.#bytes += size;
    this.#home.set(digest, repository);
  }

  /** The tag comes last: until then nobody sees the image. */
  async #pushManifests(registry: RegistryClient, { repository, tag, content, entry }: ImageToLoad): Promise<void> {
    this.#options.signal?.throwIfAborted();
    for (const manifest of content.manifests) {
      await registry.putManifest(repository, manifest.digest === entry.digest ? tag : manifest.digest, manifest);
    }
    count(this.#counts.images, true);
  }

  #meter(item: string): (bytes: number) => void {
    return (bytes) => {
      this.#done += bytes;
      this.#report({ done: this.#done, total: this.#total, item });
    };
  }
}

interface PlacedBlob extends Content {
  readonly repository: string;
  /** Image it belongs to, for progress. */
  readonly item: string;
}

function counter(): Counter {
  return { loaded: 0, present: 0 };
}

function count(each: Counter, loaded: boolean): void {
  if (loaded) each.loaded += 1;
  else each.present += 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
