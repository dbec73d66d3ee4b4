// Writes an OCI image layout (image-spec 1.1) of one image for one or more architectures: blobs, manifests, index.
import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ArchiveEntry, type WrittenArchive, writeArchive } from './archive.ts';

/** CPU architectures in Go's words. */
export type Arch = 'amd64' | 'arm64';

/** What an image is made of. */
export interface ImageContent {
  layers: ArchiveEntry[][];
  entrypoint: string[];
  /** `uid:gid`; root when not given. */
  user?: string;
}

/** A blob of the layout; `digest` in hex digits. */
type Blob = Pick<WrittenArchive, 'digest' | 'size'>;

const searchPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const indexType = 'application/vnd.oci.image.index.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

/**
 * Fills `dir` with `oci-layout`, `index.json` and `blobs/`. The same content gives the same bytes.
 * @param ref full public name with tag
 */
export async function writeLayout(
  ref: string,
  variants: Partial<Record<Arch, ImageContent>>,
  dir: string,
): Promise<void> {
  const blobs = path.join(dir, 'blobs/sha256');
  await mkdir(blobs, { recursive: true, mode: 0o755 });
  const manifests = [];
  for (const [arch, content] of Object.entries(variants)) manifests.push(await writeImage(content, arch, blobs));
  const [first, ...others] = manifests;
  if (first === undefined) throw new Error(`${ref}: an image of no architecture`);
  const root =
    others.length === 0
      ? first
      : descriptor(indexType, await writeJson(blobs, { schemaVersion: 2, mediaType: indexType, manifests }));
  const annotations = { 'org.opencontainers.image.ref.name': ref.slice(ref.lastIndexOf(':') + 1) };
  const index = { schemaVersion: 2, mediaType: indexType, manifests: [{ ...root, annotations }] };
  await writeFile(path.join(dir, 'index.json'), JSON.stringify(index), { mode: 0o644 });
  await writeFile(path.join(dir, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}', { mode: 0o644 });
}

/** The descriptor of the image's manifest. */
async function writeImage(image: ImageContent, architecture: string, blobs: string): Promise<Record<string, unknown>> {
  const layers = [];
  for (const entries of image.layers) layers.push(await writeLayer(entries, blobs));
  const platform = { architecture, os: 'linux' };
  const config = await writeJson(blobs, {
    created: '1970-01-01T00:00:00Z',
    ...platform,
    config: {
      Entrypoint: image.entrypoint,
      Env: [searchPath],
      ...(image.user === undefined ? {} : { User: image.user }),
      WorkingDir: '/',
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ plainDigest }) => `sha256:${plainDigest}`) },
  });
  const manifest = await writeJson(blobs, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: layers.map((layer) => descriptor('application/vnd.oci.image.layer.v1.tar+gzip', layer)),
  });
  return { ...descriptor(manifestType, manifest), platform };
}

async function writeLayer(entries: readonly ArchiveEntry[], blobs: string): Promise<WrittenArchive> {
  const draft = path.join(blobs, 'draft');
  const layer = await writeArchive(entries, draft);
  await rename(draft, path.join(blobs, layer.digest));
  return layer;
}

function descriptor(mediaType: string, blob: Blob): Record<string, unknown> {
  return { mediaType, digest: `sha256:${blob.digest}`, size: blob.size };
}

async function writeJson(blobs: string, value: unknown): Promise<Blob> {
  const text = JSON.stringify(value);
  const digest = createHash('sha256').update(text).digest('hex');
  await writeFile(path.join(blobs, digest), text, { mode: 0o644 });
  return { digest, size: Buffer.byteLength(text) };
}
