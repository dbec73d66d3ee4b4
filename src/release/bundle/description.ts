// bundle.json: what a bundle says about itself. It is signed, and every byte of the bundle follows from its digests (ARCHITECTURE.md, "bke bundle build").
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import { digest, pathPart, platform } from '../manifest.ts';

const size = z.int().nonnegative();
const content = { digest, size };

const fileVariant = z.strictObject({
  /** Path in the file repository, e.g. kubernetes/v1.36.3/linux/amd64/kubelet. */
  path: z.string().min(1),
  ...content,
  /** Digest of the OCI manifest that holds it. */
  manifest: digest,
});

const fileEntry = z.strictObject({
  kind: z.literal('file'),
  name: pathPart,
  version: pathPart,
  type: z.enum(['binary', 'archive', 'manifest', 'other']),
  variants: z.partialRecord(platform, fileVariant),
});

const imageEntry = z.strictObject({
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

const chartEntry = z.strictObject({
  kind: z.literal('chart'),
  name: z.string().min(1),
  version: z.string().min(1),
  /** File name in the chart repository. */
  file: z.string().min(1),
  ...content,
  manifest: digest,
});

const bundleDescription = z.strictObject({
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
export type BundleEntry = FileEntry | ImageEntry | z.infer<typeof chartEntry>;

/** @param path of the bundle, only for messages. @throws BkeError BKE_BUNDLE_FORMAT */
export function parseDescription(bytes: Buffer, path: string): BundleDescription {
  const value = parseJson(bytes, path);
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (typeof format === 'number' && format > 1) {
    throw new BkeError('BKE_BUNDLE_FORMAT', `${path} is a bundle of format ${format}; this bke knows format 1`, {
      hint: 'Use the bke that belongs to the bundle.',
    });
  }
  const parsed = bundleDescription.safeParse(value);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.slice(0, 10).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new BkeError('BKE_BUNDLE_FORMAT', `${path}: bundle.json is not valid`, { details });
}

function parseJson(bytes: Buffer, path: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new BkeError('BKE_BUNDLE_FORMAT', `${path}: bundle.json is no JSON`, { cause });
  }
}
