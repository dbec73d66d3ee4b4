// What runs of the management, for `bke status`: each provider with its version, and why it does not work where it does not.
import type { KubeClient } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { deploymentTrouble } from '../../kube/readiness.ts';
import { BkeError } from '../../lib/errors.ts';
import { inventoryKey } from './inventory.ts';
import { readManagementCa } from './management-ca.ts';
import { type Provider, providers, systemNamespace } from './providers.ts';
import { hasReleases } from './release-object.ts';
import { webhookTrouble } from './webhook-proof.ts';

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

type StatusClient = Pick<KubeClient, 'get' | 'list' | 'request' | 'apply'>;

/** In the order of installation. Webhooks are asked by trials that store nothing. @throws BkeError as KubeClient does */
export async function managementStatus(client: StatusClient, now: Date): Promise<readonly ProviderStatus[]> {
  return Promise.all(providers.map((provider) => statusOf(client, provider, now)));
}

async function statusOf(client: StatusClient, provider: Provider, now: Date): Promise<ProviderStatus> {
  const { name, title, namespace } = provider;
  const version = textAt(await client.get(inventoryKey(provider)), 'version');
  const trouble = version === undefined ? 'it is not installed' : await troubleOf(client, provider, now);
  return { name, title, namespace, version, trouble };
}

async function troubleOf(client: StatusClient, provider: Provider, now: Date): Promise<string | undefined> {
  const { namespace, deployment, webhook } = provider;
  const trouble = await deploymentTrouble(client, { namespace, name: deployment });
  if (trouble !== undefined) return trouble;
  if (webhook !== undefined) return webhookTrouble(client, webhook.probe);
  return namespace === systemNamespace ? ownTrouble(client, now) : undefined;
}

/** What bke's provider works from, and would miss only when it comes to need it. */
async function ownTrouble(client: StatusClient, now: Date): Promise<string | undefined> {
  try {
    await readManagementCa(client, { now });
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_MANAGEMENT_CA') throw thrown;
    return [thrown.message, thrown.hint].filter((part) => part !== undefined).join('. ');
  }
  if (await hasReleases(client)) return undefined;
  return 'the cluster has no catalogue of a release. Run `bke init` again: it puts it back.';
}
