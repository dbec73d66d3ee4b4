// `ssh.retain: false`: what logs in to a host goes once its agent is up.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import type { EventRecorder } from '../event-recorder.ts';
import type { HostView } from './host.ts';

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
  const isShared = others.some(
    (other) =>
      other.metadata.name !== name &&
      other.metadata.namespace === namespace &&
      textAt(other, 'spec', 'ssh', 'secretRef', 'name') === secret,
  );
  if (isShared) return false;
  if (await client.delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: secret })) {
    const message = `the Secret ${secret} was deleted, as ssh.retain: false asks`;
    await events.record({ object, type: 'Normal', reason: 'CredentialsDeleted', message });
  }
  return true;
}
