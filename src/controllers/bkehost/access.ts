// What an agent has in the cluster: its account and rights, its command and inbox, and a token to begin with.
import { agentObjects } from '../../api/agent-config.ts';
import { agentAccess } from '../../cluster/agent-access.ts';
import { requestToken } from '../../kube/account-token.ts';
import type { KubeClient, KubeObject, ObjectKey } from '../../kube/client.ts';
import { keyOf } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { withLabels } from '../../tasks/cluster-api/render.ts';
import { agentLabel, commandKind, type HostName } from './host.ts';

export const fieldManager = 'bke-controller-hosts';

/** Thirty days: the agent renews it by itself long before. */
const tokenSeconds = 30 * 24 * 3600;

/** Server-side apply: what is there already stays as it is. */
export async function ensureAccess(
  client: Pick<KubeClient, 'get' | 'apply' | 'create'>,
  host: HostName,
): Promise<void> {
  for (const object of objectsOf(host)) {
    await client.apply(withLabels(object, { [agentLabel]: host.name }), { fieldManager, force: true });
  }
  await ensureCommand(client, host);
}

/** Whoever has work for the host writes it; here it begins empty. Never applied over: its steps are others'. */
async function ensureCommand(client: Pick<KubeClient, 'get' | 'create'>, host: HostName): Promise<void> {
  if ((await client.get(commandKey(host))) !== undefined) return;
  const { namespace, name } = host;
  const metadata = { namespace, name, labels: { [agentLabel]: name } };
  try {
    await client.create({ ...commandKind, metadata, spec: { commandID: 'none-yet', leaseGeneration: 0, steps: [] } });
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_KUBE_CONFLICT') throw thrown;
  }
}

/** Takes all of it away. The account first: with it the agent's tokens are worth nothing. */
export async function removeAccess(client: Pick<KubeClient, 'get' | 'delete'>, host: HostName): Promise<void> {
  try {
    for (const object of objectsOf(host)) await client.delete(keyOf(object));
    await client.delete(commandKey(host));
  } catch (thrown) {
    // Where the namespace is deleted all of it goes with that, and the right to remove it has gone before.
    if (!isForbidden(thrown) || !(await isGoing(client, host.namespace))) throw thrown;
  }
}

export function isForbidden(thrown: unknown): thrown is BkeError {
  return thrown instanceof BkeError && thrown.code === 'BKE_KUBE_FORBIDDEN';
}

/** No right to it, or a rule or policy against it: the same again comes to the same. */
export function isDenied(thrown: unknown): thrown is BkeError {
  return isForbidden(thrown) || (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_REFUSED');
}

export async function isGoing(client: Pick<KubeClient, 'get'>, namespace: string): Promise<boolean> {
  const found = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
  return found === undefined || found.metadata.deletionTimestamp !== undefined;
}

/** A token of the agent's own account. @throws BkeError as KubeClient does */
export async function agentToken(client: Pick<KubeClient, 'request'>, { namespace, name }: HostName): Promise<string> {
  return requestToken(client, { namespace, account: agentObjects(name).account }, tokenSeconds);
}

function commandKey({ namespace, name }: HostName): ObjectKey {
  return { ...commandKind, namespace, name: agentObjects(name).hostCommand };
}

function objectsOf({ namespace, name }: HostName): KubeObject[] {
  const inbox = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: agentObjects(name).inbox } };
  return [...agentAccess({ namespace, host: name }), inbox];
}
