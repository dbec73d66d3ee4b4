// A namespace that clusters and hosts can be in: with what gives bke's controller its rights there, and nowhere else.
import type { KubeObject } from '../../kube/client.ts';
import { systemNamespace } from './providers.ts';

/** ClusterRole of bke's components with what its controller does in such a namespace; Secrets of other namespaces are none of its business. */
const roleName = 'bke-controller-clusters';

export function clustersNamespaceObjects(name: string): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace: name, name: roleName },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
      subjects: [{ kind: 'ServiceAccount', name: 'bke-controller-manager', namespace: systemNamespace }],
    },
  ];
}
