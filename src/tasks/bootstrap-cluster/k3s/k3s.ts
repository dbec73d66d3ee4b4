// The bootstrap cluster by K3s, set up by bke's own unit and files instead of K3s's install script (docs/adr/0002-own-k3s-unit.md).
import type { BootstrapCluster, BootstrapPlan } from '../bootstrap-cluster.ts';

/** What of the catalogue is missing for it; empty where nothing is. */
export function missingForK3s(_plan: Pick<BootstrapPlan, 'catalogue' | 'platform'>): string[] {
  return [];
}

export function k3sBootstrap(_plan: BootstrapPlan): BootstrapCluster {
  throw new Error('not written yet');
}
