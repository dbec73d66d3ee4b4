// Other settings for a cluster that stands: kubeadm's own phases write them, and the cluster itself keeps which ones it has.
import type { KubeClient } from '../../../kube/client.ts';
import { textAt } from '../../../kube/fields.ts';
import { digestOf } from '../../../lib/digest.ts';
import { fieldManager } from '../../field-manager.ts';
import type { TaskScope } from '../../task.ts';
import type { Reach } from '../client.ts';
import { runKubeadm } from './run.ts';

const annotation = 'bke.io/kubeadm-config';
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'kubeadm-config' };
const proxy = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'kube-proxy' };

/**
 * What the control plane was started with stays (ports, networks: init refuses others); kube-proxy and what nodes are told follow.
 * @param config text of kubeadm's configuration, which is on the host already
 * @param fresh kubeadm init has just come to its end with it.
 */
export async function keepSettings(
  scope: TaskScope,
  { config, fresh, reach }: { readonly config: string; readonly fresh: boolean; readonly reach: Reach },
): Promise<void> {
  const digest = digestOf(config);
  const known = await reach(scope.host, knownDigest);
  if (known === digest) return;
  await scope.act("give the cluster bke's settings", async () => {
    if (!fresh) await writeAgain(scope, reach, digest);
    const mark = { metadata: { annotations: { [annotation]: digest } } };
    await reach(scope.host, (client) => client.patch(configMap, mark, { type: 'merge', fieldManager }));
  });
}

async function knownDigest(client: KubeClient): Promise<string | undefined> {
  return textAt(await client.get(configMap), 'metadata', 'annotations', annotation);
}

/** kube-proxy reads its settings at its start; another template starts its pods anew. */
async function writeAgain(scope: TaskScope, reach: Reach, digest: string): Promise<void> {
  await runKubeadm(scope, ['init', 'phase', 'upload-config', 'all']);
  await runKubeadm(scope, ['init', 'phase', 'addon', 'kube-proxy']);
  const template = { metadata: { annotations: { [annotation]: digest } } };
  await reach(scope.host, (client) => client.patch(proxy, { spec: { template } }, { type: 'merge', fieldManager }));
}
