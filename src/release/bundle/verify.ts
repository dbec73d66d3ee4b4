// Proves a bundle: every blob's bytes, and that each entry is whole: all manifests, configs and layers it needs are there.
import { contentOfChunks, type Digest } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Platform } from '../manifest.ts';
import { type Descriptor, parseManifest } from '../oci/types.ts';
import { imagePlatformOf } from '../oci/image-platform.ts';
import { readChart } from '../repository/chart-archive.ts';
import type { BundleEntry, ChartEntry, ImageEntry } from './description.ts';
import { readImage } from './image-content.ts';
import type { Bundle } from './open.ts';
import { type Progress, reporter } from './progress.ts';

export interface VerifyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

interface BundleFault {
  /** What is affected: entries, or the blob where no entry needs it. */
  readonly item: string;
  readonly message: string;
}

export interface VerifyReport {
  readonly blobs: number;
  readonly bytes: number;
  readonly faults: readonly BundleFault[];
}

/** What opening the bundle already refuses is not looked for again. Memory stays flat: only manifests are held. */
export async function verifyBundle(bundle: Bundle, options: VerifyOptions = {}): Promise<VerifyReport> {
  const needs = new Needs(bundle);
  for (const entry of bundle.description.entries) await needs.add(entry);
  const damaged = await damagedBlobs(bundle, options);
  if (needs.faults.length === 0 && damaged.length === 0) await needs.tryLoading();
  const faults = [...needs.faults, ...damaged.map((digest) => damageFault(digest, needs)), ...needs.unneeded()];
  const bytes = bundle.description.blobs.reduce((sum, { size }) => sum + size, 0);
  return { blobs: bundle.description.blobs.length, bytes, faults };
}

function damageFault(digest: Digest, needs: Needs): BundleFault {
  const users = needs.usersOf(digest);
  return { item: users.join(', ') || digest, message: `the blob ${digest} is damaged` };
}

async function damagedBlobs(bundle: Bundle, { signal, onProgress }: VerifyOptions): Promise<Digest[]> {
  const total = bundle.description.blobs.reduce((sum, { size }) => sum + size, 0);
  const damaged: Digest[] = [];
  const report = reporter(onProgress);
  let done = 0;
  for (const { digest } of bundle.description.blobs) {
    const actual = await contentOfChunks(bundle.chunks(digest), (chunk) => {
      signal?.throwIfAborted();
      done += chunk.length;
      report({ done, total, item: digest });
    });
    if (actual.digest !== digest) damaged.push(digest);
  }
  return damaged;
}

/** How an entry is called in messages. */
function entryName(entry: BundleEntry): string {
  return entry.kind === 'image' ? `image ${entry.ref}` : `${entry.kind} ${entry.name} ${entry.version}`;
}

/** Which entries need which blobs, and what of it is not there. */
class Needs {
  readonly faults: BundleFault[] = [];
  readonly #bundle: Bundle;
  #unreadable = false;
  readonly #users = new Map<Digest, Set<string>>();

  constructor(bundle: Bundle) {
    this.#bundle = bundle;
  }

  async add(entry: BundleEntry): Promise<void> {
    const item = entryName(entry);
    if (entry.kind === 'image') return this.#addImage(entry, item);
    const contents = entry.kind === 'chart' ? [entry] : Object.values(entry.variants);
    for (const { digest, size, manifest } of contents) {
      this.#need(item, { digest, size });
      const named = await this.#manifestParts(item, manifest, 'application/vnd.oci.image.manifest.v1+json');
      if (named !== undefined && !named.some((part) => part.digest === digest)) {
        this.#fault(item, `its manifest ${manifest} does not name its content ${digest}`);
      }
    }
    if (entry.kind === 'file') this.#requirePlatforms(item, Object.keys(entry.variants));
  }

  /** What loading does before it writes anything; of a bundle that has no faults so far. */
  async tryLoading(): Promise<void> {
    for (const entry of this.#bundle.description.entries) {
      try {
        if (entry.kind === 'image') await readImage(this.#bundle, entry);
        if (entry.kind === 'chart') await this.#requireChart(entry);
      } catch (thrown) {
        if (!(thrown instanceof BkeError)) throw thrown;
        this.#fault(entryName(entry), thrown.message);
      }
    }
  }

  async #requireChart(entry: ChartEntry): Promise<void> {
    const { metadata } = await readChart(this.#bundle.blob(entry.digest), entry.file);
    if (metadata.name === entry.name && metadata.version === entry.version) return;
    this.#fault(entryName(entry), `its archive is chart ${metadata.name} ${metadata.version}`);
  }

  async #addImage(entry: ImageEntry, item: string): Promise<void> {
    const top = await this.#manifestParts(item, entry.digest, entry.mediaType);
    for (const [platform, digest] of Object.entries(entry.platforms)) {
      if (digest !== entry.digest && top !== undefined && !top.some((part) => part.digest === digest)) {
        this.#fault(item, `its index ${entry.digest} does not name ${digest} for ${platform}`);
      }
      const type = top?.find((part) => part.digest === digest)?.mediaType ?? entry.mediaType;
      const parts = await this.#manifestParts(item, digest, type);
      await this.#requireConfigPlatform(item, platform, parts?.[0]);
    }
    this.#requireNoMore(item, top ?? [], Object.values(entry.platforms));
    this.#requirePlatforms(item, Object.keys(entry.platforms));
  }

  #requireNoMore(item: string, named: readonly Descriptor[], known: readonly Digest[]): void {
    const more = named.filter((part) => isManifest(part) && !known.includes(part.digest));
    for (const { digest } of more) this.#fault(item, `its index names ${digest}, which no platform needs`);
  }

  async #requireConfigPlatform(item: string, platform: string, config: Descriptor | undefined): Promise<void> {
    if (config === undefined || this.#bundle.sizeOf(config.digest) === undefined) return;
    const bytes = await this.#read(item, config.digest);
    const says = bytes === undefined ? undefined : imagePlatformOf(bytes);
    if (says !== undefined && says !== platform) this.#fault(item, `what is listed for ${platform} is for ${says}`);
  }

  #requirePlatforms(item: string, has: readonly string[]): void {
    const missing = this.#bundle.description.platforms.filter((platform: Platform) => !has.includes(platform));
    for (const platform of missing) this.#fault(item, `there is nothing for ${platform}`);
  }

  /** What a manifest or index names; undefined where it can't be read, which is a fault already. */
  async #manifestParts(item: string, digest: Digest, mediaType: string): Promise<Descriptor[] | undefined> {
    if (!this.#need(item, { digest })) return undefined;
    const bytes = await this.#read(item, digest);
    if (bytes === undefined) return undefined;
    try {
      const parsed = parseManifest({ bytes, digest, mediaType }, item);
      const parts =
        parsed.kind === 'index' ? parsed.index.manifests : [parsed.manifest.config, ...parsed.manifest.layers];
      for (const part of parts) this.#need(item, part);
      return parts;
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
      this.#fault(item, thrown.message);
      return undefined;
    }
  }

  /** undefined where it is damaged: reading all blobs tells that, once. */
  async #read(item: string, digest: Digest): Promise<Buffer | undefined> {
    try {
      return await this.#bundle.readBlob(digest);
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
      this.#unreadable = true;
      return undefined;
    }
  }

  /** false where the bundle doesn't have it. */
  #need(item: string, { digest, size }: { readonly digest: Digest; readonly size?: number }): boolean {
    const users = this.#users.get(digest) ?? new Set();
    const has = this.#bundle.sizeOf(digest);
    const there = has !== undefined;
    if (!there && !users.has(item)) this.#fault(item, `the blob ${digest} is missing`);
    if (there && size !== undefined && size !== has) {
      this.#fault(item, `the blob ${digest} should have ${size} bytes but has ${has}`);
    }
    this.#users.set(digest, users.add(item));
    return there;
  }

  #fault(item: string, message: string): void {
    this.faults.push({ item, message });
  }

  usersOf(digest: Digest): string[] {
    return [...(this.#users.get(digest) ?? [])];
  }

  unneeded(): BundleFault[] {
    // While a manifest is unreadable it can't be told what it needs.
    if (this.#unreadable || this.faults.length > 0) return [];
    return this.#bundle.description.blobs
      .filter(({ digest }) => !this.#users.has(digest))
      .map(({ digest }) => ({ item: digest, message: 'nothing in the bundle needs this blob' }));
  }
}

function isManifest({ mediaType }: Descriptor): boolean {
  return /(?:manifest|index)\S*\+json$/.test(mediaType);
}
