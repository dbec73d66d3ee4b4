// What runs of the management, for `bke status`: each provider with its version, and why it does not work where it does not.
import type { KubeClient } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { deploymentTrouble } from '../../kube/readiness.ts';
import { inventoryKey } from './inventory.ts';
import { type Provider, providers } from './providers.ts';

export interface ProviderStatus {
  /** As clusterctl names it, e.g. control-plane-kubeadm. */
  readonly name: string;
  readonly title: string;
  readonly namespace: string;
  /** With a leading v; undefined where it is not installed. */
  readonly version: string | undefined;
  /** Why it does not work; undefined where it does. */
  readonly trouble: string | undefined;
}

type StatusClient = Pick<KubeClient, 'get' | 'list' | 'request'>;

/** In the order of installation. @throws BkeError as KubeClient does */
export async function managementStatus(client: StatusClient): Promise<readonly ProviderStatus[]> {
  return Promise.all(providers.map((provider) => statusOf(client, provider)));
}

async function statusOf(client: StatusClient, provider: Provider): Promise<ProviderStatus> {
  const { name, title, namespace, deployment } = provider;
  const version = textAt(await client.get(inventoryKey(provider)), 'version');
  const trouble =
    version === undefined ? 'it is not installed' : await deploymentTrouble(client, { namespace, name: deployment });
  return { name, title, namespace, version, trouble };
}
