// Secrets that bke wrote for a host or a cluster go with it; those of people stay.
import { secretOfLabel } from '../cluster/render/names.ts';
import type { KubeClient } from '../kube/client.ts';
import { isForbidden, isGoing } from './bkehost/access.ts';

export interface OwnSecret {
  readonly namespace: string;
  readonly name: string;
  /** The host or cluster that it is for. */
  readonly of: string;
}

/** Nothing where it is not there, or not bke's. @throws BkeError as KubeClient does */
export async function deleteOwnSecret(
  client: Pick<KubeClient, 'get' | 'delete'>,
  { namespace, name, of }: OwnSecret,
): Promise<void> {
  const key = { apiVersion: 'v1', kind: 'Secret', namespace, name };
  try {
    const { metadata } = (await client.get(key)) ?? {};
    if (metadata?.labels?.[secretOfLabel] !== of) return;
    // Not another one of the same name that somebody makes in between.
    await client.delete(key, metadata.uid === undefined ? {} : { uid: metadata.uid });
  } catch (thrown) {
    // With its namespace it goes all the same, and the right to it has gone before.
    if (!isForbidden(thrown) || !(await isGoing(client, namespace))) throw thrown;
  }
}
