// Commands a person is told to type next about a cluster, with the namespace where it is not the default one.
import { defaultNamespace } from '../../config/cluster/defaults.ts';
import type { ClusterName } from './world.ts';

/** ` -n NAME`, or nothing. */
export function inNamespace({ namespace }: Pick<ClusterName, 'namespace'>): string {
  return namespace === defaultNamespace ? '' : ` -n ${namespace}`;
}

export function clusterCommand(cluster: ClusterName, verb: 'describe' | 'list'): string {
  const name = verb === 'list' ? '' : ` ${cluster.name}`;
  return `bke cluster ${verb}${name}${inNamespace(cluster)}`;
}

export function hostListCommand(cluster: Pick<ClusterName, 'namespace'>): string {
  return `bke host list${inNamespace(cluster)}`;
}
