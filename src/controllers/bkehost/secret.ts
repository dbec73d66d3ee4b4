// The Secret that logs in to a host: it goes once the agent is up where `ssh.retain: false` asks for that, and with its host where bke wrote it.
import { sshSecretName } from '../../cluster/render/names.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import type { EventRecorder } from '../event-recorder.ts';
import { dropFinalizer, identityOf } from '../object-status.ts';
import { deleteOwnSecret } from '../own-secret.ts';
import { type HostName, type HostView, objectName, secretFinalizer } from './host.ts';

export interface Dropping {
  /** All hosts: one of them may log in with the same Secret. */
  readonly others: readonly KubeObject[];
  readonly events: EventRecorder;
}

/** @returns false where it must stay for now, because another host needs it */
export async function dropSecret(
  client: Pick<KubeClient, 'delete'>,
  { object, name, namespace, spec }: HostView,
  { others, events }: Dropping,
): Promise<boolean> {
  const secret = spec.ssh?.secretRef?.name;
  if (secret === undefined || spec.ssh?.retain !== false) return true;
  if (isShared({ name, namespace }, secret, others)) return false;
  if (await client.delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: secret })) {
    const message = `the Secret ${secret} was deleted, as ssh.retain: false asks`;
    await events.record({ object, type: 'Normal', reason: 'CredentialsDeleted', message });
  }
  return true;
}

function isShared({ name, namespace }: HostName, secret: string, others: readonly KubeObject[]): boolean {
  return others.some(
    (other) =>
      other.metadata.name !== name &&
      other.metadata.namespace === namespace &&
      textAt(other, 'spec', 'ssh', 'secretRef', 'name') === secret,
  );
}

/** Apart from the controller's other fields: one apply never takes the other's finalizer away. */
const secretManager = 'bke-controller-hosts-secret';

/** From now on the host does not go before its Secret. @returns the host as it is then */
export async function holdForSecret(
  client: Pick<KubeClient, 'apply'>,
  { object, name, spec }: HostView,
): Promise<KubeObject> {
  const isOwn = spec.ssh?.secretRef?.name === sshSecretName(name);
  if (!isOwn || object.metadata.finalizers?.includes(secretFinalizer) === true) return object;
  const frame = identityOf(object);
  const held = { ...frame, metadata: { ...frame.metadata, finalizers: [secretFinalizer] } };
  return client.apply(held, { fieldManager: secretManager, force: true });
}

/** Of a host that goes: its Secret goes first, unless another host logs in with it. */
export async function leaveWithSecret(
  client: Pick<KubeClient, 'get' | 'apply' | 'patch' | 'delete'>,
  object: KubeObject,
  others: readonly KubeObject[],
): Promise<void> {
  if (object.metadata.finalizers?.includes(secretFinalizer) !== true) return;
  const { namespace, name } = objectName(object);
  const secret = sshSecretName(name);
  if (!isShared({ name, namespace }, secret, others)) {
    await deleteOwnSecret(client, { namespace, name: secret, of: name });
  }
  const after = await client.apply(identityOf(object), { fieldManager: secretManager, force: true });
  await dropFinalizer(client, after, { finalizer: secretFinalizer, fieldManager: secretManager });
}
