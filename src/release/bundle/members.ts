// The names in a bundle file, and the OCI index that follows from its description.
import type { Digest } from '../../lib/digest.ts';
import { hexOf } from '../../lib/digest.ts';
import { type Descriptor, mediaType } from '../oci/types.ts';
import type { BundleDescription } from './description.ts';

export const descriptionName = 'bundle.json';
export const signatureName = 'bundle.json.sig';
export const layoutName = 'oci/oci-layout';
export const indexName = 'oci/index.json';
const blobFolder = 'oci/blobs/sha256/';

export const layoutContent: Buffer = Buffer.from('{"imageLayoutVersion":"1.0.0"}\n');

export function blobName(digest: Digest): string {
  return blobFolder + hexOf(digest);
}

/** undefined where the name is no blob's. */
export function blobOf(name: string): Digest | undefined {
  return name.startsWith(blobFolder) && /^[0-9a-f]{64}$/.test(name.slice(blobFolder.length))
    ? `sha256:${name.slice(blobFolder.length)}`
    : undefined;
}

/** index.json of the layout: exactly these bytes, so that whoever opens the bundle can compare. */
export function indexContent(description: BundleDescription): Buffer {
  const sizes = new Map(description.blobs.map(({ digest, size }) => [digest, size]));
  const describe = (digest: Digest, type: string, name: string): Descriptor => ({
    mediaType: type,
    digest,
    size: sizes.get(digest) ?? 0,
    annotations: { 'org.opencontainers.image.ref.name': name },
  });
  const manifests = description.entries.flatMap((entry) => {
    if (entry.kind === 'image') return [describe(entry.digest, entry.mediaType, entry.ref)];
    if (entry.kind === 'chart') return [describe(entry.manifest, mediaType.ociManifest, `chart/${entry.file}`)];
    return Object.values(entry.variants).map(({ manifest, path }) =>
      describe(manifest, mediaType.ociManifest, `file/${path}`),
    );
  });
  return jsonBytes({ schemaVersion: 2, mediaType: mediaType.ociIndex, manifests });
}

/** JSON as it lies in a bundle: two spaces, one newline at the end. */
export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}
