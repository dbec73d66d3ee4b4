// Objects of Cluster API as bke's controllers look at them: which are of one cluster, who owns whom, and what they say.
import {
  controlPlaneVersion,
  coreLabels,
  coreVersion,
  hostVersion,
  infrastructureVersion,
} from '../cluster/render/names.ts';
import type { KubeObject, ObjectKey, ResourceKind } from '../kube/client.ts';
import { fieldAt, listAt, textAt } from '../kube/fields.ts';

export const clusterKind: ResourceKind = { apiVersion: coreVersion, kind: 'Cluster' };
export const machineKind: ResourceKind = { apiVersion: coreVersion, kind: 'Machine' };
export const deploymentKind: ResourceKind = { apiVersion: coreVersion, kind: 'MachineDeployment' };
export const controlPlaneKind: ResourceKind = { apiVersion: controlPlaneVersion, kind: 'KubeadmControlPlane' };
export const bkeClusterKind: ResourceKind = { apiVersion: infrastructureVersion, kind: 'BKECluster' };
export const bkeMachineKind: ResourceKind = { apiVersion: infrastructureVersion, kind: 'BKEMachine' };
export const operationKind: ResourceKind = { apiVersion: hostVersion, kind: 'BKEOperation' };
export const bkeMachineTemplateKind: ResourceKind = { apiVersion: infrastructureVersion, kind: 'BKEMachineTemplate' };

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';

/** Of an object of Cluster API; undefined: it is not told which cluster it is of. */
export function clusterNameOf({ metadata: { labels = {} } }: KubeObject): string | undefined {
  return labels[coreLabels.cluster];
}

export function isControlPlane({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels[controlPlaneLabel] !== undefined;
}

/** Name of the owner of that kind, in whatever version of its group. */
export function ownerNameOf({ metadata }: KubeObject, { apiVersion, kind }: ResourceKind): string | undefined {
  const group = groupOf(apiVersion);
  const owners = listAt(metadata, 'ownerReferences');
  const found = owners.find(
    (owner) => textAt(owner, 'kind') === kind && groupOf(textAt(owner, 'apiVersion') ?? '') === group,
  );
  return textAt(found, 'name');
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, apiVersion.indexOf('/'));
}

/** What a field such as spec.infrastructureRef names, where it is of that kind. */
export function referredName(object: unknown, kind: ResourceKind, ...path: readonly string[]): string | undefined {
  const reference = fieldAt(object, ...path);
  return textAt(reference, 'kind') === kind.kind ? textAt(reference, 'name') : undefined;
}

export function isInitialized(
  cluster: KubeObject | undefined,
  what: 'infrastructureProvisioned' | 'controlPlaneInitialized',
): boolean {
  return fieldAt(cluster, 'status', 'initialization', what) === true;
}

export function keyIn(namespace: string, kind: ResourceKind, name: string): ObjectKey {
  return { ...kind, namespace, name };
}

/** Of the Secret with the way into a cluster (contract of control plane providers). */
export function kubeconfigSecretKey(namespace: string, cluster: string): ObjectKey {
  return { apiVersion: 'v1', kind: 'Secret', namespace, name: `${cluster}-kubeconfig` };
}
