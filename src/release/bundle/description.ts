// bundle.json: what a bundle says about itself. It is signed, and every byte of the bundle follows from its digests (ARCHITECTURE.md, "bke bundle build").
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import { visible } from '../../lib/text.ts';
import { digest } from '../manifest.ts';
import {
  imageName,
  imageReference,
  kubernetesVersions,
  pathPart,
  platform,
  platformList,
  repositoryPath,
} from '../names.ts';
import { parseReference } from '../oci/reference.ts';
import { chartFileName } from '../repository/charts.ts';
import { PathClaims } from '../repository/paths.ts';

const size = z.int().nonnegative();
const content = { digest, size };

const fileVariant = z.strictObject({
  /** Path in the file repository, e.g. kubernetes/v1.36.3/linux/amd64/kubelet. */
  path: repositoryPath,
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
  name: imageName,
  /** Full public name with tag, e.g. registry.k8s.io/kube-apiserver:v1.36.3. */
  ref: imageReference.superRefine(requireReference),
  /** What the tag points at: a manifest, or an index of one manifest per platform. */
  digest,
  mediaType: z.string().min(1).max(255),
  /** Where the source had an index of more platforms: its digest, under which some may know the image. */
  sourceDigest: digest.optional(),
  platforms: z.partialRecord(platform, digest),
});

const chartEntry = z.strictObject({
  kind: z.literal('chart'),
  name: pathPart,
  version: pathPart,
  /** File name in the chart repository: <name>-<version>.tgz. */
  file: z.string(),
  ...content,
  manifest: digest,
});

function requireReference(ref: string, context: z.RefinementCtx): void {
  try {
    parseReference(ref);
  } catch (thrown) {
    if (!(thrown instanceof BkeError)) throw thrown;
    context.addIssue({ code: 'custom', message: thrown.message });
  }
}

/** Everything can lie in the repositories at once: no place is taken twice, no file is a folder of another. */
function requireOnePlaceEach(entries: readonly BundleEntry[], context: z.RefinementCtx): void {
  const paths = new PathClaims();
  const others = new Set<string>();
  const refuse = (index: number, message: string) => context.addIssue({ code: 'custom', path: [index], message });
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === 'file') {
      for (const fault of fileFaults(entry, paths)) refuse(index, fault);
      continue;
    }
    if (entry.kind === 'chart' && entry.file !== chartFileName(entry)) {
      refuse(index, `the chart's file must be ${chartFileName(entry)}`);
    }
    const place = entry.kind === 'image' ? `image ${entry.ref}` : `chart ${entry.name} ${entry.version}`;
    if (others.has(place)) refuse(index, `${place} is there twice`);
    others.add(place);
  }
}

function fileFaults({ variants }: FileEntry, paths: PathClaims): string[] {
  const contents = new Map<string, string>();
  const faults: string[] = [];
  for (const { path, digest: wanted } of Object.values(variants)) {
    const other = contents.get(path);
    // A file for all platforms is listed for each.
    const fault =
      other === undefined ? paths.claim(path) : other === wanted ? undefined : `path ${path} is there twice`;
    if (fault !== undefined) faults.push(fault);
    contents.set(path, wanted);
  }
  return faults;
}

const bundleDescription = z.strictObject({
  format: z.literal(1),
  name: pathPart,
  version: pathPart,
  /** Version of the bke that built it: another bke may load it if at most one minor version apart. */
  bke: pathPart,
  platforms: platformList,
  kubernetesVersions,
  entries: z.array(z.discriminatedUnion('kind', [fileEntry, imageEntry, chartEntry])).superRefine(requireOnePlaceEach),
  /** Every blob in the bundle, sorted by digest: nothing may be missing and nothing more may be there. */
  blobs: z.array(z.strictObject(content)),
});

export type BundleDescription = z.infer<typeof bundleDescription>;
export type FileEntry = z.infer<typeof fileEntry>;
export type FileVariant = z.infer<typeof fileVariant>;
export type ImageEntry = z.infer<typeof imageEntry>;
export type ChartEntry = z.infer<typeof chartEntry>;
export type BundleEntry = FileEntry | ImageEntry | ChartEntry;

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
  const details = parsed.error.issues
    .slice(0, 10)
    .map((issue) => `${visible(issue.path.join('.'), 200)}: ${visible(issue.message, 400)}`);
  throw new BkeError('BKE_BUNDLE_FORMAT', `${path}: bundle.json is not valid`, { details });
}

function parseJson(bytes: Buffer, path: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new BkeError('BKE_BUNDLE_FORMAT', `${path}: bundle.json is no JSON`, { cause });
  }
}
