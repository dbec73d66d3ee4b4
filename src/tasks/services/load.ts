// Brings a bundle's content to the local services: files and charts into the file repository, images through the push registry.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { imageBlobs, type LoadOptions, loadBundle } from '../../release/bundle/load.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import { createRegistryClient } from '../../release/oci/registry-client.ts';
import { openFileRepository } from '../../release/repository/store.ts';
import type { TaskScope } from '../task.ts';
import { filesIn, imagesIn } from './content.ts';
import { pushUser, serviceUrls } from './layout.ts';
import { missingFiles, missingImages, type RegistryToAsk } from './missing.ts';
import type { ContentRecord } from './records.ts';
import { removeDamagedBlobs } from './store.ts';

export interface PushLogin {
  /** PEM of the site CA. */
  readonly ca: string;
  readonly password: string;
}

export async function loadFiles(scope: TaskScope, bundle: Bundle, settings: BootstrapSettings): Promise<void> {
  const files = count(bundle, 'file');
  const charts = count(bundle, 'chart');
  await scope.act(`load ${plural(files, 'file')} and ${plural(charts, 'chart')} into ${settings.dataDir}`, async () => {
    const repository = await openFileRepository(settings.dataDir);
    return (await loadBundle(bundle, { files: repository }, loadOptions(scope))).changed;
  });
}

export async function loadImages(
  scope: TaskScope,
  bundle: Bundle,
  { settings, login }: { readonly settings: BootstrapSettings; readonly login: PushLogin },
): Promise<void> {
  const { registryPush, registry } = serviceUrls(settings);
  await scope.act(`push ${plural(count(bundle, 'image'), 'image')} to ${registry}`, async () => {
    await removeDamagedBlobs(scope.host, settings.dataDir, { blobs: await imageBlobs(bundle), signal: scope.signal });
    const client = createRegistryClient({
      url: registryPush,
      ca: [login.ca],
      username: pushUser,
      password: login.password,
    });
    try {
      return (await loadBundle(bundle, { registry: client }, loadOptions(scope))).changed;
    } finally {
      client.close();
    }
  });
}

/** @throws BkeError BKE_BUNDLE_NEEDED that names files of an earlier load that are gone. */
export async function requireFiles(
  scope: TaskScope,
  { settings, content }: { readonly settings: BootstrapSettings; readonly content: ContentRecord },
): Promise<void> {
  refuseMissing(scope, await missingFiles(scope.host, settings.dataDir, filesIn(content.catalogue)));
}

/** @throws BkeError BKE_BUNDLE_NEEDED that names images of an earlier load that are gone or damaged. */
export async function requireImages(
  scope: TaskScope,
  registry: RegistryToAsk,
  { catalogue }: Pick<ContentRecord, 'catalogue'>,
): Promise<void> {
  refuseMissing(scope, await missingImages({ ...registry, signal: scope.signal }, imagesIn(catalogue)));
}

const mostNamed = 20;

function refuseMissing({ host }: TaskScope, missing: readonly string[]): void {
  if (missing.length === 0) return;
  const more = missing.length - mostNamed;
  const details = [...missing.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])];
  throw new BkeError(
    'BKE_BUNDLE_NEEDED',
    `${plural(missing.length, 'item')} of what was loaded before ${missing.length === 1 ? 'is' : 'are'} missing or damaged`,
    {
      host: host.name,
      details,
      hint: 'Run bke init with --bundle FILE: it loads what is missing.',
    },
  );
}

function loadOptions(scope: TaskScope): LoadOptions {
  return {
    signal: scope.signal,
    onProgress: ({ done, total, item }) => scope.progress({ message: item, done, total, unit: 'bytes' }),
  };
}

function count(bundle: Bundle, kind: 'file' | 'chart' | 'image'): number {
  return bundle.description.entries.filter((entry) => entry.kind === kind).length;
}
