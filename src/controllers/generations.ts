// Which generation of the lease hosts have been given commands of: none that is led later may be below it.
import type { KubeClient } from '../kube/client.ts';
import { numberAt } from '../kube/fields.ts';
import { kubeStatus } from '../kube/status-error.ts';
import { commandKind } from './bkehost/host.ts';

/**
 * By what controllers wrote, never by what agents say: one host must not shut all others out. 0 where there is no command.
 * @throws BkeError as KubeClient does
 */
export async function highestGeneration(client: Pick<KubeClient, 'list'>): Promise<number> {
  try {
    const { items } = await client.list(commandKind);
    return items.reduce((highest, command) => Math.max(highest, numberAt(command, 'spec', 'leaseGeneration') ?? 0), 0);
  } catch (thrown) {
    // The kind is not defined yet.
    if (kubeStatus(thrown)?.status === 404) return 0;
    throw thrown;
  }
}
