// Descriptors, manifests and indexes of the OCI image specification 1.1, and the Docker types that mean the same.
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import type { Digest } from '../../lib/digest.ts';
import { tryJson } from '../../lib/try-json.ts';
import { digest } from '../manifest.ts';

export const mediaType = {
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  empty: 'application/vnd.oci.empty.v1+json',
  octets: 'application/octet-stream',
  chart: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
} as const;

const indexTypes: readonly string[] = [mediaType.ociIndex, mediaType.dockerIndex];
const manifestTypes: readonly string[] = [mediaType.ociManifest, mediaType.dockerManifest];
export const acceptedManifests: readonly string[] = [...indexTypes, ...manifestTypes];

export function isIndexType(type: string): boolean {
  return indexTypes.includes(type);
}

// Loose: fields not known here belong to others and the bytes are never written again.
const imagePlatform = z.looseObject({
  os: z.string(),
  architecture: z.string(),
  variant: z.string().optional(),
});

const descriptor = z.looseObject({
  mediaType: z.string(),
  digest,
  size: z.int().nonnegative(),
  platform: imagePlatform.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
export type Descriptor = z.infer<typeof descriptor>;

export const imageIndex = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  manifests: z.array(descriptor),
});
export type ImageIndex = z.infer<typeof imageIndex>;

export const imageManifest = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: descriptor,
  layers: z.array(descriptor),
});
type ImageManifest = z.infer<typeof imageManifest>;

/** A manifest or index as it is stored: the bytes are what counts. */
export interface StoredManifest {
  readonly mediaType: string;
  readonly digest: Digest;
  readonly bytes: Buffer;
}

export type ParsedManifest =
  | { readonly kind: 'index'; readonly index: ImageIndex }
  | { readonly kind: 'manifest'; readonly manifest: ImageManifest };

/** @param what names it in the error, e.g. 'image docker.io/library/x:1'. */
export function parseManifest(stored: StoredManifest, what: string): ParsedManifest {
  const value = parseJson(stored, what);
  if (isIndexType(stored.mediaType)) return { kind: 'index', index: check(imageIndex, value, stored, what) };
  if (manifestTypes.includes(stored.mediaType))
    return { kind: 'manifest', manifest: check(imageManifest, value, stored, what) };
  throw new BkeError(
    'BKE_IMAGE_UNUSABLE',
    `${what}: manifest ${stored.digest} is of the type ${stored.mediaType}, which containerd no longer runs`,
    {
      hint: 'Push the image again with a current tool: OCI or Docker schema 2.',
    },
  );
}

/** The media type a manifest gives itself, for sources that don't tell it otherwise. */
export function ownMediaType(bytes: Buffer): string {
  const value: unknown = tryJson(bytes.toString('utf8'));
  if (typeof value !== 'object' || value === null) return 'unknown';
  if ('mediaType' in value && typeof value.mediaType === 'string') return value.mediaType;
  if ('manifests' in value) return mediaType.ociIndex;
  return 'layers' in value ? mediaType.ociManifest : 'unknown';
}

function parseJson(stored: StoredManifest, what: string): unknown {
  const value = tryJson(stored.bytes.toString('utf8'));
  if (value === undefined) throw new BkeError('BKE_IMAGE_UNUSABLE', `${what}: manifest ${stored.digest} is no JSON`);
  return value;
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  stored: StoredManifest,
  what: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues[0];
  throw new BkeError(
    'BKE_IMAGE_UNUSABLE',
    `${what}: manifest ${stored.digest} is not valid: ${problem?.path.join('.') ?? ''}: ${problem?.message ?? ''}`,
  );
}
