// A file artifact: one file per platform, or one for all where its path has no {platform}.
import { posix } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { FileArtifact, Platform, Source } from '../manifest.ts';
import { mediaType } from '../oci/types.ts';
import type { BlobOrigin } from '../sources/blob-origin.ts';
import { artifactManifest } from './artifact-manifest.ts';
import type { FileVariant } from './description.ts';
import { readElfPlatform } from './elf.ts';
import { type Resolved, Unresolved, type Wanted } from './wanted.ts';

export async function resolveFile(artifact: FileArtifact, wanted: Wanted): Promise<Resolved> {
  const variants: Partial<Record<Platform, FileVariant>> = {};
  const blobs: BlobOrigin[] = [];
  const faults: string[] = [];
  for (const platform of wanted.platforms) {
    try {
      const origin = await originFor(artifact, platform, wanted);
      const path = artifact.path.replaceAll('{platform}', platform);
      const { manifest, config } = artifactManifest({
        artifactType: 'application/vnd.bke.file.v1',
        mediaType: mediaType.octets,
        digest: origin.digest,
        size: origin.size,
        title: posix.basename(path),
      });
      variants[platform] = { path, digest: origin.digest, size: origin.size, manifest: manifest.digest };
      blobs.push(origin, manifest, config);
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
      faults.push(thrown.message);
    }
  }
  if (faults.length > 0) throw new Unresolved('BKE_ARTIFACT_UNUSABLE', [...new Set(faults)]);
  const { name, version, type } = artifact;
  return { entry: { kind: 'file', name, version, type, variants }, blobs };
}

async function originFor(artifact: FileArtifact, platform: Platform, { sources }: Wanted): Promise<BlobOrigin> {
  const what = `file ${artifact.name} ${artifact.version}`;
  const source = sourceFor(artifact, platform);
  if (source === undefined) throw new BkeError('BKE_ARTIFACT_UNUSABLE', `${what} has no source for ${platform}`);
  const origin = await sources.file(source).catch((thrown: unknown) => {
    throw thrown instanceof BkeError
      ? new BkeError(thrown.code, `${what}: ${thrown.message}`, { cause: thrown })
      : thrown;
  });
  if (origin.size === 0) throw new BkeError('BKE_ARTIFACT_UNUSABLE', `${what}: ${origin.where} is empty`);
  const built = artifact.type === 'binary' ? await readElfPlatform(origin) : undefined;
  if (built !== undefined && built !== platform) {
    throw new BkeError(
      'BKE_ARTIFACT_UNUSABLE',
      `${what}: ${origin.where} should be for ${platform} but is for ${built}`,
    );
  }
  return origin;
}

function sourceFor({ path, sources }: FileArtifact, platform: Platform): Source | undefined {
  const own = sources[platform];
  if (own !== undefined || path.includes('{platform}')) return own;
  return Object.values(sources)[0];
}
