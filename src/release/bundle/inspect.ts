// What is in a bundle, as a person or a script wants to see it.
import type { BundleEntry } from './description.ts';
import { readImage } from './image-content.ts';
import type { Bundle } from './open.ts';

export interface BundleSummary {
  readonly name: string;
  readonly version: string;
  readonly bke: string;
  readonly platforms: readonly string[];
  readonly kubernetesVersions: readonly string[];
  readonly signature: string;
  /** Bytes of the file. */
  readonly size: number;
  readonly entries: readonly EntrySummary[];
}

interface EntrySummary {
  readonly kind: BundleEntry['kind'];
  /** Image names are whole: docker.io/library/x. */
  readonly name: string;
  readonly version: string;
  /** Empty where it is the same for all. */
  readonly platforms: readonly string[];
  /** Bytes of all platforms; what several entries share counts for each. */
  readonly size: number;
  /** Several where platforms have different files. */
  readonly digests: readonly string[];
}

export async function summarise(bundle: Bundle): Promise<BundleSummary> {
  const { name, version, bke, platforms, kubernetesVersions, entries } = bundle.description;
  const signature = bundle.signature.state === 'trusted' ? `trusted ${bundle.signature.key}` : bundle.signature.state;
  return {
    name,
    version,
    bke,
    platforms,
    kubernetesVersions,
    signature,
    size: bundle.size,
    entries: await Promise.all(entries.map((entry) => summariseEntry(bundle, entry))),
  };
}

async function summariseEntry(bundle: Bundle, entry: BundleEntry): Promise<EntrySummary> {
  if (entry.kind === 'chart') {
    const { kind, name, version, digest, size } = entry;
    return { kind, name, version, platforms: [], size, digests: [digest] };
  }
  if (entry.kind === 'file') {
    const variants = Object.values(entry.variants);
    const contents = new Map(variants.map(({ digest, size }) => [digest, size]));
    return {
      kind: entry.kind,
      name: entry.name,
      version: entry.version,
      platforms: Object.keys(entry.variants),
      size: [...contents.values()].reduce((sum, size) => sum + size, 0),
      digests: [...contents.keys()],
    };
  }
  const colon = entry.ref.lastIndexOf(':');
  return {
    kind: entry.kind,
    name: entry.ref.slice(0, colon),
    version: entry.ref.slice(colon + 1),
    platforms: Object.keys(entry.platforms),
    size: (await readImage(bundle, entry)).size,
    digests: [entry.digest],
  };
}
