// A client of any OCI registry (distribution-spec 1.1): manifests, blobs, resumable uploads; everything that comes is verified.
import type { Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { type Content, type Digest, digestOf, isDigest } from '../../lib/digest.ts';
import { type BlobRead, readBlobFrom } from './blob-download.ts';
import { type BlobUpload, blobSize, type UploadOutcome, uploadBlob } from './blob-upload.ts';
import { readBody } from './http.ts';
import { RegistryConnection, type RegistryClientOptions } from './registry-connection.ts';
import { acceptedManifests, ownMediaType, type StoredManifest } from './types.ts';

export type { RegistryClientOptions } from './registry-connection.ts';

/** Errors: BKE_REGISTRY_* and BKE_DISK_FULL, with registry, repository, status and the registry's own message. */
export interface RegistryClient {
  /** e.g. https://bke.local:40443 */
  readonly url: string;
  /** host:port, the first part of its image names. */
  readonly host: string;
  /** Proves address, certificate and login. */
  ping(): Promise<void>;
  /** Digest and type behind a tag or digest; undefined where there is none. */
  resolve(
    repository: string,
    reference: string,
  ): Promise<{ readonly digest: Digest; readonly mediaType: string } | undefined>;
  getManifest(repository: string, reference: string): Promise<StoredManifest | undefined>;
  /** The bytes as they are: nothing is encoded again. */
  putManifest(repository: string, reference: string, manifest: StoredManifest): Promise<void>;
  hasBlob(repository: string, digest: Digest): Promise<boolean>;
  /** Bytes that the registry says it has of a blob; undefined where it has none. */
  blobSize(repository: string, digest: Digest): Promise<number | undefined>;
  /** Verified; goes on after a broken connection where it was. */
  blob(repository: string, content: Content, read?: BlobRead): Readable;
  /** Goes on after a broken connection at the offset the registry reports, else from the start. */
  pushBlob(repository: string, upload: BlobUpload): Promise<UploadOutcome>;
  close(): void;
}

export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const connection = new RegistryConnection(options);
  return {
    url: connection.base.origin,
    host: connection.registry,
    ping: () => ping(connection),
    resolve: (repository, reference) => resolveManifest(connection, repository, reference),
    getManifest: (repository, reference) => getManifest(connection, repository, reference),
    putManifest: (repository, reference, manifest) => putManifest(connection, { repository, reference }, manifest),
    hasBlob: async (repository, digest) => (await blobSize(connection, repository, digest)) !== undefined,
    blobSize: (repository, digest) => blobSize(connection, repository, digest),
    blob: (repository, content, read) => readBlobFrom(connection, { repository, content, ...read }),
    pushBlob: (repository, upload) => uploadBlob(connection, repository, upload),
    close: () => connection.close(),
  };
}

async function ping(connection: RegistryConnection): Promise<void> {
  await connection.head({
    method: 'GET',
    repository: '',
    target: new URL('/v2/', connection.base),
    action: 'reach the registry',
    expect: [200],
  });
}

interface ManifestPlace {
  readonly repository: string;
  /** Tag or digest. */
  readonly reference: string;
}

const accept = acceptedManifests.join(', ');

async function resolveManifest(
  connection: RegistryConnection,
  repository: string,
  reference: string,
): Promise<{ digest: Digest; mediaType: string } | undefined> {
  const response = await connection.head({
    method: 'HEAD',
    repository,
    target: `manifests/${reference}`,
    action: `look for ${reference}`,
    expect: [200, 404],
    headers: { accept },
  });
  const digest = response.headers['docker-content-digest'];
  if (response.statusCode === 404) return undefined;
  if (typeof digest === 'string' && isDigest(digest))
    return { digest, mediaType: response.headers['content-type'] ?? '' };
  // The header is optional in the specification.
  const manifest = await getManifest(connection, repository, reference);
  return manifest === undefined ? undefined : { digest: manifest.digest, mediaType: manifest.mediaType };
}

async function getManifest(
  connection: RegistryConnection,
  repository: string,
  reference: string,
): Promise<StoredManifest | undefined> {
  const action = `read manifest ${reference}`;
  return connection.naming(action, async () => {
    const response = await connection.call({
      method: 'GET',
      repository,
      target: `manifests/${reference}`,
      action,
      expect: [200, 404],
      headers: { accept },
    });
    const bytes = await readBody(response, connection.base);
    if (response.statusCode === 404) return undefined;
    const digest = digestOf(bytes);
    const promised = isDigest(reference) ? reference : response.headers['docker-content-digest'];
    if (promised !== undefined && promised !== digest) {
      throw new BkeError(
        'BKE_DIGEST_MISMATCH',
        `${connection.registry}/${repository}: the manifest ${reference} should be ${String(promised)} but is ${digest}`,
      );
    }
    const type = response.headers['content-type']?.split(';')[0]?.trim();
    return { bytes, digest, mediaType: type === undefined || type === 'application/json' ? ownMediaType(bytes) : type };
  });
}

async function putManifest(
  connection: RegistryConnection,
  { repository, reference }: ManifestPlace,
  manifest: StoredManifest,
): Promise<void> {
  await connection.head({
    method: 'PUT',
    repository,
    target: `manifests/${reference}`,
    action: `push manifest ${reference}`,
    expect: [201],
    headers: { 'content-type': manifest.mediaType, 'content-length': manifest.bytes.length },
    body: manifest.bytes,
  });
}
