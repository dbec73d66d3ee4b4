// Finds operations of clusters by their id, in whatever namespace they are.
import { operationKind } from '../../controllers/cluster-objects.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';
import type { CommandContext } from '../context.ts';
import { isJournal } from './journals.ts';

/** @throws BkeError BKE_USAGE where there is none, also where it was one of this machine */
export async function findOperation(
  { operationsDirectory }: Pick<CommandContext, 'operationsDirectory'>,
  client: Pick<KubeClient, 'list'>,
  id: string,
): Promise<KubeObject> {
  const { items } = await client.list(operationKind);
  const found = items.find(({ metadata }) => metadata.name === id);
  if (found !== undefined) return found;
  if (await isJournal(operationsDirectory, id)) {
    throw new BkeError('BKE_USAGE', `${id} is no operation of a cluster: it was run on this machine`, {
      hint: `'bke operation show ${id}' tells what it did. Ctrl-C where it runs stops it.`,
    });
  }
  const meant = nearest(
    id,
    items.map(({ metadata }) => metadata.name),
  );
  throw new BkeError('BKE_USAGE', `there is no operation '${id}' in the management cluster`, {
    hint: meant === undefined ? `'bke operation list' lists them.` : `Did you mean '${meant}'?`,
  });
}
