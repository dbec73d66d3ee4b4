// Names and labels of a cluster's resources: everything that looks one up by them takes them from here.
import { apiVersionName, bkeGroup, infrastructureGroup } from '../../api/kinds/common.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';

export const infrastructureVersion = `${infrastructureGroup}/${apiVersionName}`;
export const hostVersion = `${bkeGroup}/${apiVersionName}`;
export const coreVersion = 'cluster.x-k8s.io/v1beta2';
export const bootstrapVersion = 'bootstrap.cluster.x-k8s.io/v1beta2';
export const controlPlaneVersion = 'controlplane.cluster.x-k8s.io/v1beta2';

export type Pool = 'control-plane' | 'workers';

/** By these a machine of a pool finds the hosts it may claim. */
export const hostLabels = { cluster: 'bke.io/cluster', pool: 'bke.io/pool' } as const;

/** On Secrets that bke wrote: name of the host or cluster that they are for and go with. Those of people never have it. */
export const secretOfLabel = 'bke.io/secret-of';

export const coreLabels = {
  cluster: 'cluster.x-k8s.io/cluster-name',
  deployment: 'cluster.x-k8s.io/deployment-name',
} as const;

/** `prod-workers`: of the pool's templates, its MachineDeployment or its KubeadmControlPlane. */
export function poolName({ name }: Pick<ClusterConfig, 'name'>, pool: Pool): string {
  return `${name}-${pool}`;
}

/** Secret with what logs in to a host. */
export function sshSecretName(host: string): string {
  return `${host}-ssh`;
}

/** Secret with the login of the cluster's own registry. */
export function registrySecretName({ name }: Pick<ClusterConfig, 'name'>): string {
  return `${name}-registry`;
}

/** A reference of contract v1beta2: without version and namespace. */
export function reference(
  apiVersion: string,
  kind: string,
  name: string,
): { apiGroup: string; kind: string; name: string } {
  return { apiGroup: apiVersion.slice(0, apiVersion.indexOf('/')), kind, name };
}
