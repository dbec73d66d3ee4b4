// A registry as the source of an image; its blobs come through the cache.
import { BkeError } from '../../lib/errors.ts';
import { manifestReference, parseReference } from '../oci/reference.ts';
import type { RegistryClient } from '../oci/registry-client.ts';
import type { BlobCache } from './blob-cache.ts';
import type { ImageSource } from './image-source.ts';

export interface RegistryAccess {
  readonly client: RegistryClient;
  readonly cache: BlobCache;
  readonly signal?: AbortSignal | undefined;
}

/** @param reference registry/repository:tag or @digest, of `access.client`'s registry. */
export function registrySource(reference: string, { client, cache, signal }: RegistryAccess): ImageSource {
  const parsed = parseReference(reference);
  const { repository } = parsed;
  return {
    where: reference,
    root: async () => {
      const root = await client.getManifest(repository, manifestReference(parsed));
      if (root === undefined) throw new BkeError('BKE_REGISTRY_NOT_FOUND', `there is no image ${reference}`);
      return root;
    },
    manifest: ({ digest }) => client.getManifest(repository, digest),
    blob: async (descriptor) => {
      const where = `${client.host}/${repository}@${descriptor.digest}`;
      const fetch = (offset: number) => client.blob(repository, descriptor, { offset, signal });
      return cache.ensure({ digest: descriptor.digest, size: descriptor.size, where, fetch });
    },
  };
}
