// Writes an OCI image layout of one image: blobs, manifest, index.
import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ArchiveEntry, type WrittenArchive, writeArchive } from '../archive.ts';
import type { Arch } from '../builds/component.ts';

/** What an image is made of. */
export interface ImageContent {
  /** Full public name with tag. */
  ref: string;
  layers: ArchiveEntry[][];
  entrypoint: string[];
  /** `uid:gid`; root when not given. */
  user?: string;
}

/** A blob of the layout; `digest` in hex digits. */
type Blob = Pick<WrittenArchive, 'digest' | 'size'>;

const searchPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Fills `dir` with `oci-layout`, `index.json` and `blobs/`. */
export async function writeLayout(image: ImageContent, arch: Arch, dir: string): Promise<void> {
  const blobs = path.join(dir, 'blobs/sha256');
  await mkdir(blobs, { recursive: true, mode: 0o755 });
  const layers = [];
  for (const entries of image.layers) layers.push(await writeLayer(entries, blobs));
  const platform = { architecture: arch, os: 'linux' };
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
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: layers.map((layer) => descriptor('application/vnd.oci.image.layer.v1.tar+gzip', layer)),
  });
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        platform,
        annotations: { 'org.opencontainers.image.ref.name': tagOf(image.ref) },
      },
    ],
  };
  await writeFile(path.join(dir, 'index.json'), JSON.stringify(index), { mode: 0o644 });
  await writeFile(path.join(dir, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}', { mode: 0o644 });
}

function tagOf(ref: string): string {
  return ref.slice(ref.lastIndexOf(':') + 1);
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
