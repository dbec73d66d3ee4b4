// The cluster's DNS, made once pods have a network: its pods would be tried before, and then wait a quarter of a minute to be tried again.
import type { KubeClient } from '../../../kube/client.ts';
import { daemonSetTrouble } from '../../../kube/readiness.ts';
import { flannelDaemonSet } from '../../../cluster/cni/flannel.ts';
import type { TaskScope } from '../../task.ts';
import type { Reach } from '../client.ts';
import { kubeadmPaths } from './paths.ts';
import { runKubeadm } from './run.ts';

const objects = [
  { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'coredns' },
  { apiVersion: 'v1', kind: 'Service', namespace: 'kube-system', name: 'kube-dns' },
  { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' },
];
const networkMs = 5 * 60_000;
/** What the plugin reads for every pod. */
const subnetFile = '/run/flannel/subnet.env';

export async function applyDns(scope: TaskScope, reach: Reach): Promise<void> {
  const isThere = (await scope.host.files.stat(kubeadmPaths.kubeconfig)) !== undefined;
  if (isThere && (await reach(scope.host, hasDns))) return;
  await scope.act("make the cluster's DNS", async () => {
    await waitForNetwork(scope, reach);
    await runKubeadm(scope, ['init', 'phase', 'addon', 'coredns']);
  });
}

async function hasDns(client: KubeClient): Promise<boolean> {
  const found = await Promise.all(objects.map((key) => client.get(key)));
  return found.every((object) => object !== undefined);
}

async function waitForNetwork(scope: TaskScope, reach: Reach): Promise<void> {
  await reach(scope.host, (client) =>
    scope.wait({
      for: 'flannel to give this host its part of the pod network',
      timeoutMs: networkMs,
      intervalMs: 300,
      next: `kubectl --kubeconfig ${kubeadmPaths.kubeconfig} -n ${flannelDaemonSet.namespace} get pods`,
      probe: async () => {
        if ((await scope.host.files.stat(subnetFile)) !== undefined) return { ready: true };
        const trouble = await daemonSetTrouble(client, flannelDaemonSet);
        return { ready: false, cause: trouble ?? 'its pod is being made' };
      },
    }),
  );
}
