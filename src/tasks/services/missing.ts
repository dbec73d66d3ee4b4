// What of the loaded content is not there, looked for where hosts get it from: on disk for files, in the registry for images.
import { createLimit } from '../../lib/limit.ts';
import type { Host } from '../../host/host.ts';
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { missingParts } from '../../release/oci/missing-parts.ts';
import { localRepository, parseReference } from '../../release/oci/reference.ts';
import { createRegistryClient, type RegistryClient } from '../../release/oci/registry-client.ts';
import { dataPaths, serviceUrls } from './layout.ts';
import type { LoadedFile, LoadedImage } from './content.ts';

const atOnce = 8;
const idleTimeoutMs = 5000;

/** A line for each file or chart that is missing or has another size. */
export async function missingFiles(
  host: Pick<Host, 'files'>,
  dataDir: string,
  files: readonly LoadedFile[],
): Promise<string[]> {
  const paths = dataPaths(dataDir);
  return eachOf(files, async ({ area, path, size }) => {
    const stat = await host.files.stat(`${paths[area]}/${path}`);
    if (stat?.type !== 'file') return [`${area}/${path} is missing`];
    return stat.size === size ? [] : [`${area}/${path} has ${stat.size} of ${size} bytes`];
  });
}

export interface RegistryToAsk {
  readonly settings: BootstrapSettings;
  /** PEM of the site CA. */
  readonly ca: string;
  readonly signal?: AbortSignal;
}

/**
 * A line for each image that cannot be pulled whole, asked of the registry by its site name.
 * @throws BkeError BKE_REGISTRY_* where it cannot be asked.
 */
export async function missingImages(
  { settings, ca, signal }: RegistryToAsk,
  images: readonly LoadedImage[],
): Promise<string[]> {
  const client = createRegistryClient({ url: serviceUrls(settings).registry, ca: [ca], idleTimeoutMs });
  try {
    return await eachOf(images, async (image) => {
      signal?.throwIfAborted();
      return missingOf(client, image);
    });
  } finally {
    client.close();
  }
}

async function missingOf(client: RegistryClient, { ref, digest }: LoadedImage): Promise<string[]> {
  const reference = parseReference(ref);
  const place = { repository: localRepository(reference), tag: reference.tag ?? digest, digest };
  const parts = await missingParts(client, place);
  return parts.length === 0 ? [] : [`${ref}: ${parts.join(', ')}`];
}

async function eachOf<Item>(items: readonly Item[], look: (item: Item) => Promise<string[]>): Promise<string[]> {
  const limit = createLimit(atOnce);
  return (await Promise.all(items.map((item) => limit(() => look(item))))).flat();
}
