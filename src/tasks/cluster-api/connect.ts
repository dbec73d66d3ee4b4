// The client of a step: made for it, closed after it; none in a dry run before there is a cluster.
import type { KubeClient } from '../../kube/client.ts';
import { createKubeClient } from '../../kube/create-client.ts';
import { BkeError } from '../../lib/errors.ts';
import { connectionByKubeconfig } from '../kubeconfig.ts';
import type { TaskScope } from '../task.ts';

/** @throws BkeError BKE_KUBECONFIG_INVALID */
export type Connect = (scope: TaskScope) => Promise<KubeClient>;

/** @param file a kubeconfig on the host */
export function connectByKubeconfig(file: string): Connect {
  return async ({ host }) => createKubeClient(await connectionByKubeconfig(host, file));
}

/** @param work gets no client in a dry run where no cluster answers: it is then as if there were none. */
export async function withClient(
  connect: Connect,
  scope: TaskScope,
  work: (client: KubeClient | undefined) => Promise<void>,
): Promise<void> {
  const client = scope.dryRun ? await unlessAway(async () => answering(await connect(scope))) : await connect(scope);
  try {
    await work(client);
  } finally {
    client?.close();
  }
}

async function answering(client: KubeClient): Promise<KubeClient> {
  try {
    await client.request('GET', '/readyz', { timeoutMs: 5000 });
    return client;
  } catch (thrown) {
    client.close();
    throw thrown;
  }
}

async function unlessAway<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof BkeError) return undefined;
    throw thrown;
  }
}
