// The inbox Secret of a host: bootstrap data holds keys of the cluster's CAs, so that it stands nowhere else and only as long as it is needed.
import { agentObjects } from '../../api/agent-config.ts';
import type { KubeClient, ObjectKey } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { digestOf } from '../../lib/digest.ts';
import { agentLabel, type HostName } from '../bkehost/host.ts';
import { inboxKey } from '../host-command/bootstrap.ts';
import { fieldManager } from './claim.ts';

type SecretClient = Pick<KubeClient, 'get' | 'patch'>;
type FillClient = Pick<KubeClient, 'get' | 'apply'>;

export type BootstrapData =
  | { readonly state: 'absent' }
  | { readonly state: 'unsupported'; readonly format: string }
  | { readonly state: 'there'; readonly base64: string; readonly digest: string };

/** What Cluster API made for a machine. */
export async function readBootstrapData(client: SecretClient, namespace: string, name: string): Promise<BootstrapData> {
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  const base64 = textAt(secret, 'data', 'value');
  if (base64 === undefined) return { state: 'absent' };
  const format = Buffer.from(textAt(secret, 'data', 'format') ?? '', 'base64').toString('utf8');
  if (format !== '' && format !== 'cloud-config') return { state: 'unsupported', format };
  return { state: 'there', base64, digest: digestOf(Buffer.from(base64, 'base64')) };
}

/** Made anew where somebody deleted it: the controller of hosts makes it only when it enrols a host. @throws BkeError as KubeClient does */
export async function fillInbox(client: FillClient, host: HostName, base64: string): Promise<void> {
  const key = inboxOf(host);
  if (textAt(await client.get(key), 'data', inboxKey) === base64) return;
  const { apiVersion, kind, name } = key;
  const metadata = { namespace: host.namespace, name, labels: { [agentLabel]: host.name } };
  await client.apply({ apiVersion, kind, metadata, data: { [inboxKey]: base64 } }, { fieldManager, force: true });
}

export async function emptyInbox(client: SecretClient, host: HostName): Promise<void> {
  const secret = await client.get(inboxOf(host));
  if (fieldAt(secret, 'data', inboxKey) === undefined) return;
  await client.patch(inboxOf(host), { data: null }, { type: 'merge', fieldManager });
}

function inboxOf({ namespace, name }: HostName): ObjectKey {
  return { apiVersion: 'v1', kind: 'Secret', namespace, name: agentObjects(name).inbox };
}
