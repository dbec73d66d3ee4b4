// Finds operations of clusters by their id, in whatever namespace they are.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';
import { operationKind } from './follow.ts';

/** @throws BkeError BKE_USAGE where there is none */
export async function findOperation(client: Pick<KubeClient, 'list'>, id: string): Promise<KubeObject> {
  const { items } = await client.list(operationKind);
  const found = items.find(({ metadata }) => metadata.name === id);
  if (found !== undefined) return found;
  const meant = nearest(
    id,
    items.map(({ metadata }) => metadata.name),
  );
  throw new BkeError('BKE_USAGE', `there is no operation '${id}' in the management cluster`, {
    hint: meant === undefined ? `'bke operation list' lists them.` : `Did you mean '${meant}'?`,
  });
}
