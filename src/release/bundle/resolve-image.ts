// An image artifact: for each wanted platform one manifest whose parts are all there, and the index over them.
import { BkeError } from '../../lib/errors.ts';
import { digestOf, type Digest } from '../../lib/digest.ts';
import type { ImageArtifact, Platform } from '../manifest.ts';
import { imagePlatformOf } from '../oci/image-platform.ts';
import { parseReference } from '../oci/reference.ts';
import {
  type Descriptor,
  type ImageIndex,
  isIndexType,
  mediaType,
  parseManifest,
  type StoredManifest,
} from '../oci/types.ts';
import { type BlobOrigin, bytesOrigin } from '../sources/blob-origin.ts';
import type { ImageSource } from '../sources/image-source.ts';
import { type Resolved, Unresolved, type Wanted } from './wanted.ts';

/** The image of one platform. */
interface Part {
  readonly platform: Platform;
  readonly manifest: StoredManifest;
  readonly variant: string | undefined;
  readonly blobs: readonly BlobOrigin[];
  readonly root: StoredManifest;
}

/** Faults that are the image's own and not, say, the network's. */
const imageFaults: readonly string[] = ['BKE_IMAGE_UNUSABLE', 'BKE_IMAGE_PLATFORM_MISSING', 'BKE_DIGEST_MISMATCH'];

export async function resolveImage(artifact: ImageArtifact, wanted: Wanted): Promise<Resolved> {
  const parts: Part[] = [];
  const faults: BkeError[] = [];
  if (parseReference(artifact.ref).tag === undefined) {
    throw new Unresolved('BKE_IMAGE_UNUSABLE', [`image ${artifact.ref}: give the tag under which hosts will pull it`]);
  }
  for (const platform of wanted.platforms) {
    try {
      parts.push(await resolvePart(artifact, platform, wanted));
    } catch (thrown) {
      if (!(thrown instanceof BkeError) || !imageFaults.includes(thrown.code)) throw thrown;
      faults.push(thrown);
    }
  }
  const [first] = faults;
  if (first !== undefined) throw new Unresolved(first.code, [...new Set(faults.map(({ message }) => message))]);
  return assemble(artifact, parts);
}

async function resolvePart(artifact: ImageArtifact, platform: Platform, { sources }: Wanted): Promise<Part> {
  const what = `image ${artifact.ref}`;
  const own = artifact.sources[platform];
  const chosen = own ?? artifact.sources.all;
  if (chosen === undefined) throw new BkeError('BKE_IMAGE_PLATFORM_MISSING', `${what} has no source for ${platform}`);
  const source = sources.image(chosen, artifact.ref);
  const root = await source.root();
  if (chosen.digest !== undefined && chosen.digest !== root.digest) {
    throw new BkeError(
      'BKE_DIGEST_MISMATCH',
      `${what}: ${source.where} should be ${chosen.digest} but is ${root.digest}`,
    );
  }
  const parsed = parseManifest(root, what);
  if (parsed.kind === 'manifest') {
    // A source given for one platform need not say again which; one given for all must.
    return checkPart({ what, platform, source, root, manifest: root, promised: own !== undefined, variant: undefined });
  }
  const child = childFor(parsed.index, platform);
  if (child === undefined) {
    const there = platformsOf(parsed.index);
    throw new BkeError(
      'BKE_IMAGE_PLATFORM_MISSING',
      `${what}: ${source.where} has no ${platform}, only ${there.join(', ') || 'nothing'}`,
    );
  }
  const manifest = await source.manifest(child);
  if (manifest === undefined) {
    throw new BkeError(
      'BKE_IMAGE_PLATFORM_MISSING',
      `${what}: the index in ${source.where} promises ${platform}, but its manifest ${child.digest} is not there`,
    );
  }
  return checkPart({ what, platform, source, root, manifest, promised: true, variant: child.platform?.variant });
}

interface Candidate {
  readonly what: string;
  readonly platform: Platform;
  readonly source: ImageSource;
  readonly root: StoredManifest;
  readonly manifest: StoredManifest;
  /** Something outside says that it is for this platform, so its config need not. */
  readonly promised: boolean;
  readonly variant: string | undefined;
}

async function checkPart({ what, platform, source, root, manifest, promised, variant }: Candidate): Promise<Part> {
  const parsed = parseManifest(manifest, what);
  if (parsed.kind === 'index')
    throw new BkeError('BKE_IMAGE_UNUSABLE', `${what}: ${manifest.digest} is an index inside an index`);
  const { config, layers } = parsed.manifest;
  const blobs: BlobOrigin[] = [];
  for (const descriptor of [config, ...layers]) {
    const blob = await source.blob(descriptor);
    if (blob === undefined) {
      throw new BkeError(
        'BKE_IMAGE_PLATFORM_MISSING',
        `${what}: ${source.where} has no complete image for ${platform}: ${descriptor.digest} is not there`,
      );
    }
    blobs.push(blob);
  }
  const [configBlob] = blobs;
  const says = configBlob === undefined ? undefined : await platformOf(configBlob);
  if (says === undefined && !promised) {
    throw new BkeError(
      'BKE_IMAGE_UNUSABLE',
      `${what}: ${source.where} does not say for which platform it is; give it under that platform`,
    );
  }
  if (says !== undefined && says !== platform) {
    const code = promised ? 'BKE_IMAGE_UNUSABLE' : 'BKE_IMAGE_PLATFORM_MISSING';
    throw new BkeError(code, `${what}: what ${source.where} has for ${platform} is for ${says}`);
  }
  return { platform, manifest, variant, blobs, root };
}

const configLimit = 4 * 1024 * 1024;

/** What the image's own config says; undefined where it says nothing. */
async function platformOf(config: BlobOrigin): Promise<string | undefined> {
  if (config.size > configLimit) return undefined;
  const bytes = Buffer.concat(await config.open().toArray());
  const digest = digestOf(bytes);
  if (digest !== config.digest)
    throw new BkeError('BKE_DIGEST_MISMATCH', `${config.where} should be ${config.digest} but is ${digest}`);
  return imagePlatformOf(bytes);
}

/** Of several variants the most general one; `unknown/unknown` entries (build attestations) are never meant. */
function childFor(index: ImageIndex, platform: Platform): Descriptor | undefined {
  const general = platform === 'linux/arm64' ? 'v8' : undefined;
  const fitting = index.manifests.filter((each) => nameOf(each) === platform);
  return fitting.find(({ platform: own }) => own?.variant === undefined || own.variant === general) ?? fitting[0];
}

function nameOf({ platform }: Descriptor): string | undefined {
  return platform === undefined ? undefined : `${platform.os}/${platform.architecture}`;
}

function platformsOf(index: ImageIndex): string[] {
  const names = index.manifests.map(nameOf).filter((name) => name !== undefined && name !== 'unknown/unknown');
  return [...new Set(names)].map(String);
}

function assemble(artifact: ImageArtifact, parts: readonly Part[]): Resolved {
  const top = topOf(artifact, parts);
  const manifests = [top, ...parts.map(({ manifest }) => manifest)].map((each) =>
    bytesOrigin(each.bytes, `a manifest of ${artifact.ref}`),
  );
  const platforms = Object.fromEntries(parts.map(({ platform, manifest }) => [platform, manifest.digest]));
  const sourceDigest = prunedFrom(parts, top.digest);
  return {
    entry: {
      kind: 'image',
      name: artifact.name,
      ref: artifact.ref,
      digest: top.digest,
      mediaType: top.mediaType,
      ...(sourceDigest === undefined ? {} : { sourceDigest }),
      platforms,
    },
    blobs: [...manifests, ...parts.flatMap(({ blobs }) => blobs)],
  };
}

/** The source's own bytes where they name exactly what is in the bundle, so that its digest stays; else a single manifest, or a new index over what is there. */
function topOf(artifact: ImageArtifact, parts: readonly Part[]): StoredManifest {
  const [first] = parts;
  if (first === undefined) throw new Error(`no platform was wanted of ${artifact.ref}`);
  if (namesExactly(first.root, parts)) return first.root;
  if (parts.length === 1) return first.manifest;
  const manifests = parts.map(({ platform, manifest, variant }) => {
    const [os, architecture] = platform.split('/');
    return {
      mediaType: manifest.mediaType,
      digest: manifest.digest,
      size: manifest.bytes.length,
      platform: { architecture, os, ...(variant === undefined ? {} : { variant }) },
    };
  });
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: mediaType.ociIndex, manifests }));
  return { bytes, digest: digestOf(bytes), mediaType: mediaType.ociIndex };
}

function namesExactly(root: StoredManifest, parts: readonly Part[]): boolean {
  if (!isIndexType(root.mediaType)) return parts.every(({ manifest }) => manifest.digest === root.digest);
  const parsed = parseManifest(root, 'an index');
  if (parsed.kind !== 'index') return false;
  const there = new Set(parts.map(({ manifest }) => manifest.digest));
  const named = new Set(parsed.index.manifests.map(({ digest }) => digest));
  return named.size === there.size && [...named].every((digest) => there.has(digest));
}

function prunedFrom(parts: readonly Part[], top: Digest): Digest | undefined {
  const roots = new Set(
    parts
      .map(({ root }) => root)
      .filter(({ mediaType: type }) => isIndexType(type))
      .map(({ digest }) => digest),
  );
  const [only] = roots;
  return roots.size === 1 && only !== top ? only : undefined;
}
