// bundle.json: what a bundle says about itself. It is signed, and every byte of the bundle follows from its digests (design section 6).
import { z } from 'zod';
import { digest, platform } from '../manifest.ts';

const size = z.int().nonnegative();
const content = { digest, size };

const fileVariant = z.strictObject({
  /** Path in the file repository, e.g. kubernetes/v1.36.3/linux/amd64/kubelet. */
  path: z.string().min(1),
  ...content,
  /** Digest of the OCI manifest that holds it. */
  manifest: digest,
});

export const fileEntry = z.strictObject({
  kind: z.literal('file'),
  name: z.string().min(1),
  version: z.string().min(1),
  type: z.enum(['binary', 'archive', 'manifest', 'other']),
  variants: z.partialRecord(platform, fileVariant),
});

export const imageEntry = z.strictObject({
  kind: z.literal('image'),
  name: z.string().min(1),
  /** Full public name with tag, e.g. registry.k8s.io/kube-apiserver:v1.36.3. */
  ref: z.string().min(1),
  /** What the tag points at: a manifest, or an index of one manifest per platform. */
  digest,
  mediaType: z.string().min(1),
  /** Where the source had an index of more platforms: its digest, under which some may know the image. */
  sourceDigest: digest.optional(),
  platforms: z.partialRecord(platform, digest),
});

export const chartEntry = z.strictObject({
  kind: z.literal('chart'),
  name: z.string().min(1),
  version: z.string().min(1),
  /** File name in the chart repository. */
  file: z.string().min(1),
  ...content,
  manifest: digest,
});

export const bundleDescription = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1),
  version: z.string().min(1),
  /** Version of the bke that built it: another bke may load it if at most one minor version apart. */
  bke: z.string().min(1),
  platforms: z.array(platform).min(1),
  kubernetesVersions: z.array(z.string()),
  entries: z.array(z.discriminatedUnion('kind', [fileEntry, imageEntry, chartEntry])),
  /** Every blob in the bundle, sorted by digest: nothing may be missing and nothing more may be there. */
  blobs: z.array(z.strictObject(content)),
});

export type BundleDescription = z.infer<typeof bundleDescription>;
export type FileEntry = z.infer<typeof fileEntry>;
export type FileVariant = z.infer<typeof fileVariant>;
export type ImageEntry = z.infer<typeof imageEntry>;
export type ChartEntry = z.infer<typeof chartEntry>;
export type BundleEntry = FileEntry | ImageEntry | ChartEntry;
