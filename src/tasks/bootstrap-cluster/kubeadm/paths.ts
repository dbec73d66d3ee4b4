// Where kubeadm's files are on a host (Kubernetes, cmd/kubeadm/app/constants).
import { kubeletPaths } from '../../node/kubelet-config.ts';

export const kubeadmPaths = {
  program: '/usr/local/bin/kubeadm',
  /** What bke tells kubeadm; that it is there shows that the other files come from bke's own kubeadm. */
  config: '/etc/kubernetes/bke-kubeadm.yaml',
  kubeconfig: '/etc/kubernetes/admin.conf',
  pki: '/etc/kubernetes/pki',
  manifests: '/etc/kubernetes/manifests',
  /** Written last before the kubelet is started. */
  kubeletConfig: kubeletPaths.config,
} as const;

export const kubeletUnit = kubeletPaths.unit;

/** Each a static pod. */
export const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const accounts = ['admin', 'super-admin', 'kubelet', 'controller-manager', 'scheduler'];

export const manifestFiles = components.map((name) => `${kubeadmPaths.manifests}/${name}.yaml`);
export const kubeconfigFiles = accounts.map((name) => `/etc/kubernetes/${name}.conf`);
