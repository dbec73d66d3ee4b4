// How far kubeadm got, as the host and the cluster itself tell it.
import type { Host } from '../../../host/host.ts';
import type { KubeClient, ObjectKey } from '../../../kube/client.ts';
import { fieldAt } from '../../../kube/fields.ts';
import { kubeadmPaths } from './paths.ts';

/** `none`: nothing of it is kept, begin anew. `begun`: the kubelet was started, so all certificates were written; go on with these. */
export type Progress = 'none' | 'begun';

export async function progressOf(host: Host): Promise<Progress> {
  return (await host.files.stat(kubeadmPaths.kubeletConfig)) === undefined ? 'none' : 'begun';
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
