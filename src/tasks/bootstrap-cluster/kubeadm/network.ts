// The pods' network: flannel's manifest out of the bundle, applied as it fits this cluster.
import { flannelObjects } from '../../../cluster/cni/flannel.ts';
import type { KubeClient, KubeObject } from '../../../kube/client.ts';
import { BkeError } from '../../../lib/errors.ts';
import type { TaskScope } from '../../task.ts';
import type { BootstrapPlan } from '../bootstrap-cluster.ts';
import { withCluster } from '../client.ts';
import { kubeadmPaths } from './paths.ts';

const fieldManager = 'bke-init';
const what = 'apply flannel';

/** @param file path of flannel's manifest on this host */
export async function applyNetwork(scope: TaskScope, plan: BootstrapPlan, file: string): Promise<void> {
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
  const endpoint = { host: plan.hostIP, port: plan.port };
  const objects = flannelObjects(manifest.toString('utf8'), { podCIDR: plan.podCIDR, endpoint });
  await withCluster(scope.host, kubeadmPaths.kubeconfig, async (client) => {
    const changed: KubeObject[] = [];
    for (const object of objects) if (await differs(client, object)) changed.push(object);
    if (changed.length === 0) return;
    await scope.act(what, async () => {
      for (const object of changed) await client.apply(object, { fieldManager, force: true });
    });
  });
}

/** Asked of the server itself, which fills in what a manifest leaves open. */
async function differs(client: KubeClient, object: KubeObject): Promise<boolean> {
  const { apiVersion, kind, metadata } = object;
  const now = await client.get({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name });
  if (now === undefined) return true;
  const then = await client.apply(object, { fieldManager, force: true, dryRun: true });
  return content(now) !== content(then);
}

function content({ metadata, ...object }: KubeObject): string {
  const { managedFields: _managed, resourceVersion: _version, ...own } = metadata;
  return JSON.stringify({ ...object, metadata: own });
}
