// Ways into the clusters that bke made: clients by the kubeconfig that Cluster API keeps in a Secret, made anew where that is another one.
import type { KubeClient } from '../kube/client.ts';
import type { Fence } from '../kube/fence.ts';
import { createKubeClient } from '../kube/create-client.ts';
import { textAt } from '../kube/fields.ts';
import { connectionFromKubeconfig } from '../kube/kubeconfig.ts';
import { BkeError } from '../lib/errors.ts';
import type { HostName } from './bkehost/host.ts';
import { kubeconfigSecretKey } from './cluster-objects.ts';

export interface Workloads {
  /** undefined: there is no way into it yet. @throws BkeError BKE_KUBECONFIG_INVALID, and as KubeClient does */
  clientOf(cluster: HostName): Promise<KubeClient | undefined>;
  forget(cluster: HostName): void;
}

interface Known {
  readonly text: string;
  readonly client: KubeClient;
}

export class WorkloadClients implements Workloads {
  readonly #management: Pick<KubeClient, 'get'>;
  readonly #fence: Fence | undefined;
  readonly #known = new Map<string, Known>();

  /** @param fence of what is written there */
  constructor(management: Pick<KubeClient, 'get'>, fence?: Fence) {
    this.#management = management;
    this.#fence = fence;
  }

  async clientOf({ namespace, name }: HostName): Promise<KubeClient | undefined> {
    const secret = await this.#management.get(kubeconfigSecretKey(namespace, name));
    const text = textAt(secret, 'data', 'value');
    if (text === undefined) return undefined;
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    if (known?.text === text) return known.client;
    known?.client.close();
    const file = `the Secret ${namespace}/${name}-kubeconfig`;
    const readFile = async (): Promise<never> => {
      throw new BkeError('BKE_KUBECONFIG_INVALID', `${file} names a file: all must be in it`);
    };
    const plain = Buffer.from(text, 'base64').toString('utf8');
    const client = createKubeClient(await connectionFromKubeconfig(plain, { file, readFile }), this.#fence);
    this.#known.set(key, { text, client });
    return client;
  }

  forget({ namespace, name }: HostName): void {
    const key = `${namespace}/${name}`;
    this.#known.get(key)?.client.close();
    this.#known.delete(key);
  }
}
