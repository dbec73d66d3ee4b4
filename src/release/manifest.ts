// The release manifest: names every artifact of a release, its version and where it comes from (design section 6).
import { z } from 'zod';

export const platform = z.templateLiteral([z.literal('linux/'), z.enum(['amd64', 'arm64'])]);
export type Platform = z.infer<typeof platform>;

export const digest = z.templateLiteral(
  [z.literal('sha256:'), z.string().regex(/^[0-9a-f]{64}$/)],
  'must be sha256: and 64 hex digits',
);

/** Exactly one way to get the bytes. Relative paths are relative to the manifest's folder. */
const source = z.strictObject({
  /** A file on this machine. */
  file: z.string().optional(),
  /** An OCI image layout folder (images only); the first manifest or index in its index.json, or the one tagged `ref`. */
  layout: z.string().optional(),
  url: z.url().optional(),
  /** registry/repository:tag or @digest (images only). */
  registry: z.string().optional(),
  /** What the bytes must be; for images the digest of the manifest. Checked where given, and required for url. */
  digest: digest.optional(),
});
export type Source = z.infer<typeof source>;

const sources = z.partialRecord(platform, source);

const fileArtifact = z.strictObject({
  kind: z.literal('file'),
  /** Logical name, e.g. kubelet, containerd; unique with version. */
  name: z.string().min(1),
  version: z.string().min(1),
  /** Path in the file repository; `{platform}` becomes e.g. linux/amd64: kubernetes/v1.36.3/{platform}/kubelet */
  path: z.string().min(1),
  /** binary: placed as it is, 0755; archive: .tar, .tar.gz or .tar.zst; manifest: Kubernetes YAML; other. */
  type: z.enum(['binary', 'archive', 'manifest', 'other']),
  sources,
});

const imageArtifact = z.strictObject({
  kind: z.literal('image'),
  name: z.string().min(1),
  /** Full public name with tag: registry.k8s.io/kube-apiserver:v1.36.3 */
  ref: z.string().min(1),
  /** One layout or registry reference that has all platforms under the key `all`, or one per platform. */
  sources: z.partialRecord(z.union([platform, z.literal('all')]), source),
});

const chartArtifact = z.strictObject({
  kind: z.literal('chart'),
  name: z.string().min(1),
  version: z.string().min(1),
  source,
});

export const artifact = z.discriminatedUnion('kind', [fileArtifact, imageArtifact, chartArtifact]);
export type Artifact = z.infer<typeof artifact>;
export type FileArtifact = z.infer<typeof fileArtifact>;
export type ImageArtifact = z.infer<typeof imageArtifact>;
export type ChartArtifact = z.infer<typeof chartArtifact>;

export const releaseManifest = z.strictObject({
  apiVersion: z.literal('bke.io/v1alpha1'),
  kind: z.literal('Release'),
  metadata: z.strictObject({
    name: z.string().min(1),
    /** Version of this release, e.g. 0.1.0. */
    version: z.string().min(1),
  }),
  spec: z.strictObject({
    platforms: z.array(platform).min(1),
    /** Kubernetes versions that can be installed from it, e.g. v1.36.3. */
    kubernetesVersions: z.array(z.string()),
    artifacts: z.array(artifact).min(1),
  }),
});
export type ReleaseManifest = z.infer<typeof releaseManifest>;
