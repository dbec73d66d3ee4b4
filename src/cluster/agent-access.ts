// What the agent of a host may do in the cluster, as objects: its own command, inbox, lease and token, and nothing of any other host.
import { agentObjects } from '../api/agent-config.ts';
import { bkeGroup } from '../api/kinds/common.ts';
import type { KubeObject } from '../kube/client.ts';

const rbac = 'rbac.authorization.k8s.io';

export interface AgentIdentity {
  readonly namespace: string;
  readonly host: string;
}

/**
 * ServiceAccount, Role, RoleBinding and Lease. RBAC can't hold the making of an object to a name, so the Lease is made here and the agent
 * only renews it. Revoked by deleting the ServiceAccount.
 */
export function agentAccess({ namespace, host }: AgentIdentity): KubeObject[] {
  const { account } = agentObjects(host);
  const metadata = { namespace, name: account };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules: rulesOf(host) },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
    },
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata },
  ];
}

function rulesOf(host: string): object[] {
  const { account, hostCommand, inbox } = agentObjects(host);
  const rule = (apiGroup: string, resource: string, name: string, verbs: readonly string[]): object => ({
    apiGroups: [apiGroup],
    resources: [resource],
    resourceNames: [name],
    verbs,
  });
  return [
    rule(bkeGroup, 'hostcommands', hostCommand, ['get', 'list', 'watch']),
    rule(bkeGroup, 'hostcommands/status', hostCommand, ['get', 'patch']),
    rule('', 'secrets', inbox, ['get']),
    rule('', 'serviceaccounts/token', account, ['create']),
    rule('coordination.k8s.io', 'leases', account, ['get', 'patch']),
  ];
}
