// Finds operations of clusters by their id, in whatever namespace they are.
import { operationKind } from '../../controllers/cluster-objects.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import type { CommandContext } from '../context.ts';
import { isJournal, unknownOperation } from './journals.ts';

/** @throws BkeError BKE_OPERATION_UNKNOWN where there is none, BKE_USAGE where it was one of this machine */
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
  const ids = items.map(({ metadata }) => metadata.name);
  throw unknownOperation(id, 'in the management cluster', ids);
}
