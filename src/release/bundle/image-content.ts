// What an image of a bundle consists of: its manifests and the blobs they name.
import { BkeError } from '../../lib/errors.ts';
import type { Content } from '../../lib/digest.ts';
import { parseManifest, type StoredManifest } from '../oci/types.ts';
import type { ImageEntry } from './description.ts';
import type { Bundle } from './open.ts';

export interface ImageContent {
  /** One per platform, then the index over them where there is one: the order in which a registry takes them. */
  readonly manifests: readonly StoredManifest[];
  /** Configs and layers, each once. */
  readonly blobs: readonly Content[];
  /** Bytes of all of it. */
  readonly size: number;
}

/** @throws BkeError BKE_BUNDLE_INCOMPLETE, BKE_BUNDLE_DAMAGED, BKE_IMAGE_UNUSABLE */
export async function readImage(bundle: Bundle, entry: ImageEntry): Promise<ImageContent> {
  const what = `image ${entry.ref}`;
  const top = { digest: entry.digest, mediaType: entry.mediaType, bytes: await bundle.readBlob(entry.digest) };
  const parsed = parseManifest(top, what);
  const children =
    parsed.kind === 'manifest'
      ? []
      : await Promise.all(
          parsed.index.manifests.map(async ({ digest, mediaType }) => ({
            digest,
            mediaType,
            bytes: await bundle.readBlob(digest),
          })),
        );
  const blobs = new Map<string, Content>();
  for (const manifest of parsed.kind === 'manifest' ? [top] : children) {
    const inner = parseManifest(manifest, what);
    if (inner.kind === 'index')
      throw new BkeError('BKE_IMAGE_UNUSABLE', `${what}: ${manifest.digest} is an index inside an index`);
    for (const { digest, size } of [inner.manifest.config, ...inner.manifest.layers])
      blobs.set(digest, { digest, size });
  }
  const manifests = [...children, top];
  const size = [...blobs.values()].reduce((sum, blob) => sum + blob.size, 0);
  return {
    manifests,
    blobs: [...blobs.values()],
    size: manifests.reduce((sum, { bytes }) => sum + bytes.length, size),
  };
}
