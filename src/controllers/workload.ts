// Ways into the clusters that bke made: clients by the kubeconfig that Cluster API keeps in a Secret, made anew where that is another one.
import type { KubeClient } from '../kube/client.ts';
import { createKubeClient } from '../kube/create-client.ts';
import { textAt } from '../kube/fields.ts';
import { connectionFromKubeconfig } from '../kube/kubeconfig.ts';
import { BkeError } from '../lib/errors.ts';
import type { HostName } from './bkehost/host.ts';
import { kubeconfigSecretKey } from './cluster-objects.ts';
import type { ControllerContext } from './controller.ts';
import { patientClient } from './silence.ts';

/** Whoever takes longer is taken for dead, and looked at again soon. */
const readTimeoutMs = 10_000;

export interface Workloads {
  /** undefined: there is no way into it yet. @throws BkeError BKE_KUBECONFIG_INVALID, and as KubeClient does */
  clientOf(cluster: HostName): Promise<KubeClient | undefined>;
  forget(cluster: HostName): void;
}

interface Known {
  /** Its kubeconfig, in base64. */
  readonly text: string;
  readonly client: Promise<KubeClient>;
}

export class WorkloadClients implements Workloads {
  readonly #management: Pick<KubeClient, 'get'>;
  readonly #context: Pick<ControllerContext, 'fence' | 'now'>;
  readonly #known = new Map<string, Known>();

  /** One for all controllers: what one has found out about a cluster that is silent, the others know too. */
  constructor(management: Pick<KubeClient, 'get'>, context: Pick<ControllerContext, 'fence' | 'now'>) {
    this.#management = management;
    this.#context = context;
  }

  async clientOf({ namespace, name }: HostName): Promise<KubeClient | undefined> {
    const secret = await this.#management.get(kubeconfigSecretKey(namespace, name));
    const text = textAt(secret, 'data', 'value');
    if (text === undefined) return undefined;
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    if (known?.text === text) return known.client;
    this.forget({ namespace, name });
    // Known before it is there: controllers that ask at the same time get the same one.
    const client = this.#connect(key, text);
    this.#known.set(key, { text, client });
    return client;
  }

  async #connect(key: string, text: string): Promise<KubeClient> {
    const file = `the Secret ${key}-kubeconfig`;
    const readFile = async (): Promise<never> => {
      throw new BkeError('BKE_KUBECONFIG_INVALID', `${file} names a file: all must be in it`);
    };
    const plain = Buffer.from(text, 'base64').toString('utf8');
    const connection = { ...(await connectionFromKubeconfig(plain, { file, readFile })), readTimeoutMs };
    const { fence, now } = this.#context;
    return patientClient(createKubeClient(connection, fence), { cluster: `the cluster ${key}`, now });
  }

  forget({ namespace, name }: HostName): void {
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    this.#known.delete(key);
    // One that could not be made has nothing to close.
    known?.client.then(
      (client) => client.close(),
      () => undefined,
    );
  }
}
