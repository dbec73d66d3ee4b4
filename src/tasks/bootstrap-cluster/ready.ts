// Waits until a bootstrap cluster works: its API server answers, its node is ready, its own programs and its DNS run. Whatever it was made by.
import type { KubeClient } from '../../kube/client.ts';
import { deploymentTrouble, nodeTrouble, whyNoPods } from '../../kube/readiness.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Wait } from '../../operations/scope.ts';
import type { TaskScope } from '../task.ts';
import { type Reach, reachBy } from './client.ts';

export interface ReadyOptions {
  readonly kubeconfig: string;
  readonly nodeName: string;
  /** Whose log tells what the node waits for, e.g. kubelet.service. */
  readonly unit: string;
  /** Why one of its own programs beside the DNS does not run; not asked of a cluster that has them all in one. */
  readonly systemTrouble?: (client: KubeClient) => Promise<string | undefined>;
  /** Default: by the kubeconfig. */
  readonly reach?: Reach;
}

type Answer = Awaited<ReturnType<Wait['probe']>>;
const ready: Answer = { ready: true };
const notReady = (cause: string): Answer => ({ ready: false, cause });

const limitMs = 5 * 60_000;

/** @throws BkeError BKE_TIMEOUT that names what is not ready and why, in the system's own words */
export async function waitForCluster(scope: TaskScope, options: ReadyOptions): Promise<void> {
  const { kubeconfig, nodeName, unit, systemTrouble, reach = reachBy(kubeconfig) } = options;
  if (scope.dryRun) return;
  await reach(scope.host, async (client) => {
    const wait = (what: string, next: string, probe: () => Promise<Answer>): Promise<void> =>
      scope.wait({ for: what, timeoutMs: limitMs, intervalMs: 500, next, probe: unlessAway(probe) });
    await waitForApi(scope, client, { unit, timeoutMs: limitMs });
    await wait(`node ${nodeName} to be ready`, `journalctl -u ${unit}`, () => probeNode(client, nodeName, kubeconfig));
    const pods = `kubectl --kubeconfig ${kubeconfig} -n kube-system describe pods`;
    if (systemTrouble !== undefined)
      await wait("the cluster's own programs to run", pods, async () => answerOf(await systemTrouble(client)));
    await wait('the cluster DNS to run', `${pods} -l k8s-app=kube-dns`, async () => answerOf(await dnsTrouble(client)));
  });
}

/** @throws BkeError BKE_TIMEOUT with what was in the way */
export async function waitForApi(
  scope: TaskScope,
  client: KubeClient,
  { unit, timeoutMs }: { readonly unit: string; readonly timeoutMs: number },
): Promise<void> {
  const probe = unlessAway(async () => {
    await client.request('GET', '/readyz', { timeoutMs: 5000 });
    return ready;
  });
  const next = `crictl ps -a; journalctl -u ${unit}`;
  await scope.wait({ for: 'the API server to be ready', timeoutMs, intervalMs: 500, next, probe });
}

/** A server that is not there yet, or not done with its start, is waited for; any other answer ends the wait. */
function unlessAway(probe: () => Promise<Answer>): () => Promise<Answer> {
  return async () => {
    try {
      return await probe();
    } catch (thrown) {
      if (!isAway(thrown)) throw thrown;
      return notReady(thrown.message);
    }
  };
}

const awayCodes = new Set<string>(['BKE_KUBE_UNREACHABLE', 'BKE_KUBE_FAILED']);

function isAway(thrown: unknown): thrown is BkeError {
  return thrown instanceof BkeError && awayCodes.has(thrown.code);
}

async function probeNode(client: KubeClient, name: string, kubeconfig: string): Promise<Answer> {
  const node = await client.get({ apiVersion: 'v1', kind: 'Node', name });
  if (node === undefined) return notReady(`the kubelet has not registered the node ${name} yet`);
  const trouble = nodeTrouble(node) ?? whyNoPods(node, kubeconfig);
  if (trouble !== undefined) return notReady(trouble);
  // A node is called ready for most of a minute after its kubelet has ended: the kubelet is asked itself, by way of the API server.
  await client.request('GET', `/api/v1/nodes/${name}/proxy/healthz`, { timeoutMs: 5000 });
  return ready;
}

export function dnsTrouble(client: KubeClient): Promise<string | undefined> {
  return deploymentTrouble(client, { namespace: 'kube-system', name: 'coredns' });
}

function answerOf(trouble: string | undefined): Answer {
  return trouble === undefined ? ready : notReady(trouble);
}
