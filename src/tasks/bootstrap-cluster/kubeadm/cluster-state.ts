// How far kubeadm got, as the host and the cluster itself tell it.
import type { Host } from '../../../host/host.ts';
import type { KubeClient, ObjectKey } from '../../../kube/client.ts';
import { fieldAt } from '../../../kube/fields.ts';
import { kubeadmPaths, kubeconfigFiles, manifestFiles } from './paths.ts';

/** `none`: nothing of it is kept, begin anew. `begun`: the kubelet was started, so all certificates were written; go on with these. */
export type Progress = 'none' | 'begun';

/** etcd makes it at its first start. */
const stored = '/var/lib/etcd/member';

/** What is stored tells as much as the kubelet's settings, which somebody may have taken away: it is lost without its certificates. */
export async function progressOf(host: Host): Promise<Progress> {
  for (const path of [kubeadmPaths.kubeletConfig, stored]) {
    if ((await host.files.stat(path)) !== undefined) return 'begun';
  }
  return 'none';
}

/** Files that `kubeadm init` writes, whatever was there, and without which something of the cluster does not come back after a restart. */
const lastingFiles = [
  kubeadmPaths.kubeletConfig,
  ...manifestFiles,
  // Some take away the one that no rule of the cluster can stop, and the cluster does without it.
  ...kubeconfigFiles.filter((path) => !path.endsWith('/super-admin.conf')),
];

/** Whether all files are there by which the cluster runs; kubeadm writes in place, so a loss of power may leave an empty one. */
export async function hasFiles(host: Host): Promise<boolean> {
  for (const path of lastingFiles) if (((await host.files.stat(path))?.size ?? 0) === 0) return false;
  return true;
}

/** What the last phases of `kubeadm init` make, in their order; the cluster's DNS comes later (dns.ts). */
function lastObjects(nodeName: string): (ObjectKey & { readonly has?: readonly string[] })[] {
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'kubeadm-config' },
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'kubelet-config' },
    {
      apiVersion: 'v1',
      kind: 'Node',
      name: nodeName,
      has: ['metadata', 'labels', 'node-role.kubernetes.io/control-plane'],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-public', name: 'cluster-info' },
    { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'kube-proxy' },
  ];
}

/** Whether `kubeadm init` came to its end. */
export async function isFinished(client: Pick<KubeClient, 'get'>, nodeName: string): Promise<boolean> {
  for (const { has, ...key } of lastObjects(nodeName)) {
    const object = await client.get(key);
    if (object === undefined || (has !== undefined && fieldAt(object, ...has) === undefined)) return false;
  }
  return true;
}

const tokenSelector = 'type=bootstrap.kubernetes.io/token';

/** Secrets by which a machine could join. */
export async function joinTokens(client: Pick<KubeClient, 'list'>): Promise<ObjectKey[]> {
  const kind = { apiVersion: 'v1', kind: 'Secret' };
  const { items } = await client.list(kind, { namespace: 'kube-system', fieldSelector: tokenSelector });
  return items.map(({ metadata: { name } }) => ({ ...kind, namespace: 'kube-system', name }));
}
