// From what the release manifest wants to bundle entries and the places of their bytes; all that is missing is told at once.
import { BkeError } from '../../lib/errors.ts';
import type { Digest } from '../../lib/digest.ts';
import type { Artifact, ReleaseManifest } from '../manifest.ts';
import type { BlobOrigin } from '../sources/blob-origin.ts';
import type { BundleEntry } from './description.ts';
import { resolveChart } from './resolve-chart.ts';
import { resolveFile } from './resolve-file.ts';
import { resolveImage } from './resolve-image.ts';
import { type Resolved, Unresolved, type Wanted } from './wanted.ts';

export interface Resolution {
  readonly entries: readonly BundleEntry[];
  readonly blobs: ReadonlyMap<Digest, BlobOrigin>;
}

/**
 * @param onItem told before each artifact.
 * @throws BkeError BKE_IMAGE_PLATFORM_MISSING, BKE_IMAGE_UNUSABLE, BKE_ARTIFACT_UNUSABLE, with a detail per fault where there are several.
 */
export async function resolveArtifacts(
  manifest: ReleaseManifest,
  wanted: Wanted,
  onItem: (item: string, index: number) => void,
): Promise<Resolution> {
  const entries: BundleEntry[] = [];
  const blobs = new Map<Digest, BlobOrigin>();
  const unresolved: Unresolved[] = [];
  for (const [index, artifact] of manifest.spec.artifacts.entries()) {
    onItem(artifact.kind === 'image' ? artifact.ref : `${artifact.name} ${artifact.version}`, index);
    try {
      const resolved = await resolveOne(artifact, wanted);
      entries.push(resolved.entry);
      for (const blob of resolved.blobs) if (!blobs.has(blob.digest)) blobs.set(blob.digest, blob);
    } catch (thrown) {
      if (!(thrown instanceof Unresolved)) throw thrown;
      unresolved.push(thrown);
    }
  }
  if (unresolved.length > 0) throw unresolvedError(unresolved);
  return { entries, blobs };
}

function resolveOne(artifact: Artifact, wanted: Wanted): Promise<Resolved> {
  if (artifact.kind === 'image') return resolveImage(artifact, wanted);
  return artifact.kind === 'file' ? resolveFile(artifact, wanted) : resolveChart(artifact, wanted);
}

function unresolvedError(unresolved: readonly Unresolved[]): BkeError {
  const faults = unresolved.flatMap((each) => each.faults);
  const code = unresolved[0]?.code ?? 'BKE_ARTIFACT_UNUSABLE';
  const hint = 'Nothing was written. Mend the sources, or build for fewer platforms with --platform.';
  if (faults.length === 1) return new BkeError(code, faults.join(''), { hint });
  return new BkeError(code, `the bundle cannot be built: ${faults.length} faults in its sources`, {
    details: faults,
    hint,
  });
}
