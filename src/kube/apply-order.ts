// The order in which objects of a manifest can be applied: what others need comes first, what can refuse others comes last.
import type { KubeObject } from './client.ts';

const orderedKinds: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition'],
  ['PriorityClass', 'StorageClass', 'RuntimeClass', 'IngressClass', 'CSIDriver'],
  ['ServiceAccount', 'ClusterRole', 'Role'],
  ['ClusterRoleBinding', 'RoleBinding'],
  ['ResourceQuota', 'LimitRange', 'NetworkPolicy', 'ConfigMap', 'Secret', 'PersistentVolume', 'PersistentVolumeClaim'],
  ['Service'],
  ['DaemonSet', 'Deployment', 'StatefulSet', 'ReplicaSet', 'Pod', 'Job', 'CronJob', 'PodDisruptionBudget'],
];
/** They would be asked about what comes after them, before the program that answers runs. */
const lastKinds: readonly string[] = [
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
];

/** Stages one after the other; within one the order of the file, and no object needs another. */
export function applyStages(objects: readonly KubeObject[]): readonly (readonly KubeObject[])[] {
  const stages = new Map<number, KubeObject[]>();
  for (const object of objects) {
    const rank = rankOf(object.kind);
    stages.set(rank, [...(stages.get(rank) ?? []), object]);
  }
  return [...stages].sort(([a], [b]) => a - b).map(([, stage]) => stage);
}

function rankOf(kind: string): number {
  const rank = orderedKinds.findIndex((kinds) => kinds.includes(kind));
  if (rank !== -1) return rank;
  // Custom resources stand between: their definitions are there, and so may be the webhooks of an earlier version.
  return lastKinds.includes(kind) ? orderedKinds.length + 1 : orderedKinds.length;
}
