// BKEHosts of a cluster.
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import type { ClusterConfig, HostConfig, SshConfig } from '../../config/cluster/config.ts';
import type { KubeObject } from '../../kube/client.ts';
import { coreLabels, hostLabels, hostVersion, sshSecretName } from './names.ts';
import { poolOf } from './pools.ts';
import { bastionsOf } from './secrets.ts';

/** @param hasSecret whether there is a Secret with what logs in. */
export function hostResource(host: HostConfig, config: ClusterConfig, hasSecret: boolean): KubeObject {
  const { name, address, nodeIP, roles, labels, taints, ssh } = host;
  const spec: BKEHostSpec = {
    address,
    ...(nodeIP === address ? {} : { nodeIP }),
    roles: [...roles],
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(taints.length === 0 ? {} : { taints: [...taints] }),
    ssh: sshSpec(ssh, hasSecret ? sshSecretName(name) : undefined),
  };
  return {
    apiVersion: hostVersion,
    kind: 'BKEHost',
    metadata: {
      name,
      namespace: config.namespace,
      labels: {
        [coreLabels.cluster]: config.name,
        [hostLabels.cluster]: config.name,
        [hostLabels.pool]: poolOf(host),
      },
    },
    spec,
  };
}

function sshSpec(ssh: SshConfig, secret: string | undefined): NonNullable<BKEHostSpec['ssh']> {
  const { user, port, hostKeys, retain } = ssh;
  const bastions = bastionsOf(ssh).map((bastion) => ({
    address: bastion.address,
    user: bastion.user,
    port: bastion.port,
    ...hostKeysField(bastion.hostKeys),
  }));
  return {
    user,
    port,
    ...hostKeysField(hostKeys),
    ...(secret === undefined ? {} : { secretRef: { name: secret } }),
    ...(bastions.length === 0 ? {} : { bastions }),
    retain,
  };
}

function hostKeysField(hostKeys: readonly string[]): { hostKeys?: string[] } {
  return hostKeys.length === 0 ? {} : { hostKeys: [...hostKeys] };
}
