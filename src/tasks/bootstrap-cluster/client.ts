// A client of the cluster on this host, for as long as one piece of work takes.
import type { Host } from '../../host/host.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createKubeClient } from '../../kube/create-client.ts';
import { connectionByKubeconfig } from '../kubeconfig.ts';

/** @throws BkeError BKE_KUBECONFIG_INVALID */
export async function withCluster<Result>(
  host: Host,
  kubeconfig: string,
  work: (client: KubeClient) => Promise<Result>,
): Promise<Result> {
  const client = createKubeClient(await connectionByKubeconfig(host, kubeconfig));
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
