// What an image in a registry lacks, asked of the registry itself: its manifests are read, each blob is looked for with its size.
import type { Digest } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { RegistryClient } from './registry-client.ts';
import { parseManifest, type StoredManifest } from './types.ts';

export interface ImagePlace {
  readonly repository: string;
  readonly tag: string;
  /** Of the manifest or index that the tag must lead to. */
  readonly digest: Digest;
}

type Reader = Pick<RegistryClient, 'getManifest' | 'blobSize'>;

/**
 * A line for each thing that is missing or damaged; none where the image can be pulled.
 * @throws BkeError BKE_REGISTRY_UNREACHABLE, BKE_REGISTRY_TLS and the like where the registry cannot be asked.
 */
export async function missingParts(registry: Reader, { repository, tag, digest }: ImagePlace): Promise<string[]> {
  const top = await readManifest(registry, repository, tag);
  if (typeof top === 'string') return [top];
  if (top.digest !== digest) return [`the tag ${tag} leads to ${top.digest}`];
  const parsed = parseManifest(top, `${repository}:${tag}`);
  if (parsed.kind === 'manifest') return missingBlobs(registry, repository, top);
  const children = await Promise.all(
    parsed.index.manifests.map(async (child) => {
      const manifest = await readManifest(registry, repository, child.digest);
      return typeof manifest === 'string' ? [manifest] : missingBlobs(registry, repository, manifest);
    }),
  );
  return [...new Set(children.flat())];
}

/** What is wrong with it in place of a manifest: a damaged one is answered with a server error, or other bytes than were asked for. */
async function readManifest(registry: Reader, repository: string, reference: string): Promise<StoredManifest | string> {
  try {
    return (await registry.getManifest(repository, reference)) ?? `the manifest ${reference} is missing`;
  } catch (thrown) {
    const damaged = thrown instanceof BkeError && damageCodes.has(thrown.code);
    if (damaged) return `the manifest ${reference} is damaged`;
    throw thrown;
  }
}

const damageCodes = new Set(['BKE_REGISTRY_REFUSED', 'BKE_DIGEST_MISMATCH']);

async function missingBlobs(registry: Reader, repository: string, stored: StoredManifest): Promise<string[]> {
  const parsed = parseManifest(stored, repository);
  if (parsed.kind === 'index') return [];
  const { config, layers } = parsed.manifest;
  const lines = await Promise.all(
    [config, ...layers].map(async ({ digest, size }) => {
      const found = await registry.blobSize(repository, digest);
      if (found === size) return [];
      return [
        found === undefined ? `the blob ${digest} is missing` : `the blob ${digest} has ${found} of ${size} bytes`,
      ];
    }),
  );
  return lines.flat();
}
