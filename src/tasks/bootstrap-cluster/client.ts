// A client of the cluster on this host, for as long as one piece of work takes.
import type { Host } from '../../host/host.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createKubeClient } from '../../kube/create-client.ts';
import { connectionFromKubeconfig } from '../../kube/kubeconfig.ts';
import { BkeError } from '../../lib/errors.ts';

/** @throws BkeError BKE_KUBECONFIG_INVALID */
export async function withCluster<Result>(
  host: Host,
  kubeconfig: string,
  work: (client: KubeClient) => Promise<Result>,
): Promise<Result> {
  const readFile = async (path: string): Promise<string> => {
    const content = await host.files.read(path);
    if (content === undefined) {
      throw new BkeError('BKE_KUBECONFIG_INVALID', `${path} is not there`, { host: host.name });
    }
    return content.toString('utf8');
  };
  const text = await readFile(kubeconfig);
  const client = createKubeClient(await connectionFromKubeconfig(text, { file: kubeconfig, readFile }));
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** How a piece of work reaches the cluster of a host. */
export type Reach = <Result>(host: Host, work: (client: KubeClient) => Promise<Result>) => Promise<Result>;

export function reachBy(kubeconfig: string): Reach {
  return (host, work) => withCluster(host, kubeconfig, work);
}
