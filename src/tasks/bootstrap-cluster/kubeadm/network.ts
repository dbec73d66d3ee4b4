// The pods' network: flannel's manifest out of the bundle, applied as it fits this cluster.
import { type FlannelOptions, flannelObjects } from '../../../cluster/cni/flannel.ts';
import { applyAll } from '../../../kube/apply.ts';
import { pendingOf } from '../../../kube/pending.ts';
import { BkeError } from '../../../lib/errors.ts';
import { fieldManager } from '../../field-manager.ts';
import type { TaskScope } from '../../task.ts';
import type { Reach } from '../client.ts';
import { kubeadmPaths } from './paths.ts';

const what = 'apply flannel';

export interface NetworkOptions extends FlannelOptions {
  /** Path of flannel's manifest on this host. */
  readonly file: string;
  readonly reach: Reach;
}

export async function applyNetwork(scope: TaskScope, options: NetworkOptions): Promise<void> {
  const { file, reach } = options;
  if (scope.dryRun && (await scope.host.files.stat(kubeadmPaths.kubeconfig)) === undefined) {
    await scope.act(what, async () => false);
    return;
  }
  const manifest = await scope.host.files.read(file);
  if (manifest === undefined) {
    throw new BkeError('BKE_ARTIFACT_MISSING', `${file} is not there`, {
      host: scope.host.name,
      hint: 'Run bke init with its bundle again: it puts back what is missing.',
    });
  }
  const objects = flannelObjects(manifest.toString('utf8'), options);
  await reach(scope.host, async (client) => {
    const changed = await pendingOf(client, objects, fieldManager);
    if (changed.length === 0) return;
    await scope.act(what, async () => {
      await applyAll(client, changed, { fieldManager, force: true, signal: scope.signal });
    });
  });
}
