// The release manifest: names every artifact of a release, its version and where it comes from (ARCHITECTURE.md, "bke bundle build").
import { z } from 'zod';
import { apiVersionField } from '../config/api-version.ts';
import {
  imageName,
  imageReference,
  kubernetesVersions,
  pathPart,
  pathsOf,
  platform,
  platformList,
  repositoryPathPattern,
} from './names.ts';
import { platforms } from './platforms.ts';
import { PathClaims } from './repository/paths.ts';

export type { Platform } from './platforms.ts';

export const digest = z.templateLiteral([z.literal('sha256:'), z.string().regex(/^[0-9a-f]{64}$/)], {
  error: 'must be sha256: and 64 hex digits',
});

/** Exactly one way to get the bytes. Relative paths are relative to the manifest's folder. */
const source = z
  .strictObject({
    /** A file on this machine. */
    file: z.string().min(1).optional(),
    /** An OCI image layout folder (images only); the first manifest or index in its index.json, or the one tagged `ref`. */
    layout: z.string().min(1).optional(),
    url: z.url({ protocol: /^https$/, error: 'must be an https:// address' }).optional(),
    /** registry/repository:tag or @digest (images only). */
    registry: z.string().min(1).optional(),
    /** What the bytes must be; for images the digest of the manifest. Checked where given, and required for url. */
    digest: digest.optional(),
  })
  .refine((value) => waysOf(value).length === 1, 'must have exactly one of file, layout, url and registry')
  .refine((value) => value.url === undefined || value.digest !== undefined, {
    path: ['digest'],
    message: 'is missing: what comes from a url must be checked',
  });
export type Source = z.infer<typeof source>;

function waysOf({
  file,
  layout,
  url,
  registry,
}: {
  file?: unknown;
  layout?: unknown;
  url?: unknown;
  registry?: unknown;
}) {
  return [file, layout, url, registry].filter((way) => way !== undefined);
}

const plainSource = source.refine(
  (value) => value.layout === undefined && value.registry === undefined,
  'only images come from a layout or registry; give a file or url',
);
const imageSource = source.refine(
  (value) => value.file === undefined && value.url === undefined,
  'an image comes from a layout or registry, not from a file or url',
);

const fileArtifact = z.strictObject({
  kind: z.literal('file'),
  /** Logical name, e.g. kubelet, containerd; unique with version. */
  name: pathPart,
  version: pathPart,
  /** Path in the file repository; `{platform}` becomes e.g. linux/amd64: kubernetes/v1.36.3/{platform}/kubelet. Without it one file serves all platforms. */
  path: repositoryPathPattern,
  /** binary: placed as it is, 0755; archive: .tar, .tar.gz or .tar.zst; manifest: Kubernetes YAML; other. */
  type: z.enum(['binary', 'archive', 'manifest', 'other']),
  sources: z.partialRecord(platform, plainSource),
});

const imageArtifact = z.strictObject({
  kind: z.literal('image'),
  name: imageName,
  /** Full public name with tag: registry.k8s.io/kube-apiserver:v1.36.3 */
  ref: imageReference,
  /** One layout or registry reference that has all platforms under the key `all`, or one per platform. */
  sources: z.partialRecord(z.enum([...platforms, 'all']), imageSource),
});

const chartArtifact = z.strictObject({
  kind: z.literal('chart'),
  name: pathPart,
  version: pathPart,
  source: plainSource,
});

const artifact = z.discriminatedUnion('kind', [fileArtifact, imageArtifact, chartArtifact]);
export type Artifact = z.infer<typeof artifact>;
export type FileArtifact = z.infer<typeof fileArtifact>;
export type ImageArtifact = z.infer<typeof imageArtifact>;
export type ChartArtifact = z.infer<typeof chartArtifact>;

/** What must be there only once: an artifact's identity, and its place in the repositories. */
function claimsOf(entry: Artifact): string[] {
  if (entry.kind === 'image') return [`image ${entry.ref}`];
  if (entry.kind === 'chart') return [`chart ${entry.name} ${entry.version}`];
  return [`file ${entry.name} ${entry.version}`, `path ${entry.path}`];
}

const artifacts = z
  .array(artifact)
  .min(1)
  .superRefine((entries, context) => {
    const claimed = new Set<string>();
    const paths = new PathClaims();
    for (const [index, entry] of entries.entries()) {
      const twice = entry.kind === 'file' && claimed.has(`path ${entry.path}`);
      for (const path of entry.kind === 'file' && !twice ? pathsOf(entry.path) : []) {
        const message = paths.claim(path);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [index, 'path'], message });
      }
      for (const claim of claimsOf(entry)) {
        if (claimed.has(claim)) context.addIssue({ code: 'custom', path: [index], message: `${claim} is there twice` });
        claimed.add(claim);
      }
    }
  });

export const releaseManifest = z.strictObject({
  apiVersion: apiVersionField,
  kind: z.literal('Release'),
  metadata: z.strictObject({
    name: pathPart,
    /** Version of this release, e.g. 0.1.0. */
    version: pathPart,
  }),
  spec: z.strictObject({
    platforms: platformList,
    /** Kubernetes versions that can be installed from it, e.g. v1.36.3. */
    kubernetesVersions,
    artifacts,
  }),
});
export type ReleaseManifest = z.infer<typeof releaseManifest>;
