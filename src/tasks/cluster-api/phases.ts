// Cluster API and bke's provider, installed into a cluster from the artifacts of a release.
import type { Phase } from '../../operations/operation.ts';
import type { Catalogue } from '../../release/catalogue.ts';
import type { Platform } from '../../release/platforms.ts';
import type { BootstrapCluster } from '../bootstrap-cluster/bootstrap-cluster.ts';
import type { TaskScope } from '../task.ts';

export interface ManagementPlan {
  /** As events name the host. */
  readonly host: string;
  readonly cluster: Pick<BootstrapCluster, 'kubeconfig' | 'ready'>;
  readonly catalogue: Catalogue;
  readonly platform: Platform;
  /** Folder of the file repository on this host. */
  readonly filesDir: string;
  /** Version of this bke: its image in the catalogue is the provider. */
  readonly bkeVersion: string;
  readonly now: () => Date;
}

/** What of the catalogue is missing for it; empty where nothing is. */
export function missingForManagement(_plan: Pick<ManagementPlan, 'catalogue' | 'platform' | 'bkeVersion'>): string[] {
  return [];
}

export function managementPhases(_plan: ManagementPlan): readonly Phase<TaskScope>[] {
  throw new Error('not written yet');
}
