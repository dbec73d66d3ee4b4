// The bootstrap cluster by kubeadm: the same node tasks as every cluster, with one control plane that also runs pods.
import type { BootstrapCluster, BootstrapPlan } from '../bootstrap-cluster.ts';

/** What of the catalogue is missing for it; empty where nothing is. */
export function missingForKubeadm(_plan: Pick<BootstrapPlan, 'catalogue' | 'platform'>): string[] {
  return [];
}

export function kubeadmBootstrap(_plan: BootstrapPlan): BootstrapCluster {
  throw new Error('not written yet');
}
