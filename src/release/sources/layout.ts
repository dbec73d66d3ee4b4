// An OCI image layout folder (image-spec image-layout.md) as the source of an image.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, hexOf } from '../../lib/digest.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { fileType, openPlainFile } from '../../lib/plain-file.ts';
import { acceptedManifests, type Descriptor, imageIndex, ownMediaType, type StoredManifest } from '../oci/types.ts';
import { type BlobOrigin, fileOrigin } from './blob-origin.ts';
import type { ImageSource } from './image-source.ts';

const manifestLimit = 4 * 1024 * 1024;

/** @param ref the image's full name: of several images in the folder, the one that is tagged so (whole name or tag alone) is meant. */
export function layoutSource(dir: string, ref: string): ImageSource {
  return {
    where: dir,
    root: async () => {
      const descriptor = chooseRoot(await readIndex(dir), ref);
      const root = descriptor === undefined ? undefined : await readManifest(dir, descriptor);
      if (root !== undefined) return root;
      throw new BkeError(
        'BKE_IMAGE_UNUSABLE',
        descriptor === undefined
          ? `image ${ref}: ${dir} has no image`
          : `image ${ref}: ${dir} names ${descriptor.digest} but does not have it`,
      );
    },
    manifest: (descriptor) => readManifest(dir, descriptor),
    blob: (descriptor) => findBlob(dir, descriptor),
  };
}

function blobPath(dir: string, { digest }: Descriptor): string {
  return join(dir, 'blobs', 'sha256', hexOf(digest));
}

async function readIndex(dir: string): Promise<readonly Descriptor[]> {
  const path = join(dir, 'index.json');
  try {
    await stat(join(dir, 'oci-layout'));
    return imageIndex.parse(JSON.parse((await readPlain(path)).toString('utf8'))).manifests;
  } catch (cause) {
    if (cause instanceof BkeError) throw cause;
    const why = isErrno(cause, 'ENOENT', 'ENOTDIR') ? 'oci-layout or index.json is missing' : `index.json is not valid`;
    throw new BkeError('BKE_IMAGE_UNUSABLE', `${dir} is no OCI image layout: ${why}`, { cause });
  }
}

function chooseRoot(descriptors: readonly Descriptor[], ref: string): Descriptor | undefined {
  const tag = ref.slice(ref.lastIndexOf(':') + 1);
  const named = (name: string) =>
    descriptors.find(({ annotations }) => annotations?.['org.opencontainers.image.ref.name'] === name);
  return named(ref) ?? named(tag) ?? descriptors.find((descriptor) => acceptedManifests.includes(descriptor.mediaType));
}

async function readManifest(dir: string, descriptor: Descriptor): Promise<StoredManifest | undefined> {
  const path = blobPath(dir, descriptor);
  if (descriptor.size > manifestLimit) throw new BkeError('BKE_IMAGE_UNUSABLE', `${path} is too large for a manifest`);
  try {
    const bytes = await readPlain(path);
    const digest = digestOf(bytes);
    if (digest !== descriptor.digest) {
      throw new BkeError('BKE_DIGEST_MISMATCH', `${path} should be ${descriptor.digest} but is ${digest}`);
    }
    const known = acceptedManifests.includes(descriptor.mediaType);
    return { bytes, digest, mediaType: known ? descriptor.mediaType : ownMediaType(bytes) };
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

/** Bounded: nothing read here is large in a sound layout. */
async function readPlain(path: string): Promise<Buffer> {
  const file = await openPlainFile(path, 'BKE_IMAGE_UNUSABLE');
  try {
    if ((await file.stat()).size > manifestLimit)
      throw new BkeError('BKE_IMAGE_UNUSABLE', `${path} is too large for a manifest`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function findBlob(dir: string, descriptor: Descriptor): Promise<BlobOrigin | undefined> {
  const path = blobPath(dir, descriptor);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new BkeError('BKE_IMAGE_UNUSABLE', `${path} is no file but ${fileType(found)}`);
    const { size } = found;
    if (size !== descriptor.size) {
      throw new BkeError('BKE_DIGEST_MISMATCH', `${path} should have ${descriptor.size} bytes but has ${size}`);
    }
    return fileOrigin(path, descriptor);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}
