// Files and charts as OCI artifacts (image-spec 1.1 "guidelines for artifact usage"): empty config, one layer with its name.
import { type Content, digestOf } from '../../lib/digest.ts';
import { mediaType } from '../oci/types.ts';
import { type BlobOrigin, bytesOrigin } from '../sources/blob-origin.ts';

export interface ArtifactLayer extends Content {
  readonly artifactType: 'application/vnd.bke.file.v1' | 'application/vnd.bke.chart.v1';
  readonly mediaType: string;
  /** File name. */
  readonly title: string;
}

const emptyConfig = Buffer.from('{}');

/** The manifest and the empty config it names. */
export function artifactManifest(layer: ArtifactLayer): { readonly manifest: BlobOrigin; readonly config: BlobOrigin } {
  const config = bytesOrigin(emptyConfig, 'the empty config');
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaType.ociManifest,
    artifactType: layer.artifactType,
    config: { mediaType: mediaType.empty, digest: digestOf(emptyConfig), size: emptyConfig.length },
    layers: [
      {
        mediaType: layer.mediaType,
        digest: layer.digest,
        size: layer.size,
        annotations: { 'org.opencontainers.image.title': layer.title },
      },
    ],
  };
  return { config, manifest: bytesOrigin(Buffer.from(JSON.stringify(manifest)), `the manifest of ${layer.title}`) };
}
