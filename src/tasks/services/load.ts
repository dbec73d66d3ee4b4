// Brings a bundle's content to the local services: files and charts into the file repository, images through the push registry.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { plural } from '../../lib/text.ts';
import { type LoadOptions, loadBundle } from '../../release/bundle/load.ts';
import type { Bundle } from '../../release/bundle/open.ts';
import { createRegistryClient } from '../../release/oci/registry-client.ts';
import { openFileRepository } from '../../release/repository/store.ts';
import type { TaskScope } from '../task.ts';
import { pushUser, serviceUrls } from './layout.ts';

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

function loadOptions(scope: TaskScope): LoadOptions {
  return {
    signal: scope.signal,
    onProgress: ({ done, total, item }) => scope.progress({ message: item, done, total, unit: 'bytes' }),
  };
}

function count(bundle: Bundle, kind: 'file' | 'chart' | 'image'): number {
  return bundle.description.entries.filter((entry) => entry.kind === kind).length;
}
