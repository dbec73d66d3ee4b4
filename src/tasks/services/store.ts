// The registry's store on disk: a blob whose bytes are not what its name says is taken out, since the registry itself never replaces one.
import type { Host } from '../../host/host.ts';
import type { Content } from '../../lib/digest.ts';
import { eachLimited } from '../../lib/limit.ts';
import { dataPaths } from './layout.ts';

/** Where Distribution's file system driver keeps a blob. */
export function blobPath(dataDir: string, digest: string): string {
  const hex = digest.slice('sha256:'.length);
  return `${dataPaths(dataDir).registry}/docker/registry/v2/blobs/sha256/${hex.slice(0, 2)}/${hex}/data`;
}

/** Reads every blob that is there. Returns the digests of those that were taken out; a later push brings them back. */
export async function removeDamagedBlobs(
  host: Pick<Host, 'files'>,
  dataDir: string,
  { blobs, signal }: { readonly blobs: readonly Content[]; readonly signal: AbortSignal },
): Promise<string[]> {
  const removed: string[] = [];
  // The store belongs to the services' user: nothing may be led out of it by a link.
  const trusted = await host.files.realPath(dataDir);
  if (trusted === undefined) return removed;
  await eachLimited(blobs, 4, async ({ digest, size }) => {
    signal.throwIfAborted();
    const path = blobPath(dataDir, digest);
    const stat = await host.files.stat(path);
    if (stat?.type !== 'file' || (await host.files.realPath(path)) !== blobPath(trusted, digest)) return;
    if (stat.size === size && (await host.files.digest(path)) === digest) return;
    await host.files.remove(path);
    removed.push(digest);
  });
  return removed;
}
