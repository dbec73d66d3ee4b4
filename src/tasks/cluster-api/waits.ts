// Waiting for what was installed to work, with the cause while it does not.
import type { KubeClient } from '../../kube/client.ts';
import { deploymentTrouble } from '../../kube/readiness.ts';
import { BkeError } from '../../lib/errors.ts';
import type { TaskScope } from '../task.ts';
import type { Provider } from './providers.ts';
import { webhookTrouble } from './webhook-proof.ts';

/** Pulling the image included, from the registry of the site. */
const startMs = 10 * 60_000;
const answerMs = 3 * 60_000;

interface Waiter {
  readonly scope: TaskScope;
  /** How a person reaches the cluster, for hints: 'kubectl --kubeconfig FILE'. */
  readonly kubectl: string;
}

type ReadClient = Pick<KubeClient, 'get' | 'list' | 'request'>;

/** @throws BkeError BKE_TIMEOUT with what keeps it */
export async function waitForProvider(
  { scope, kubectl }: Waiter,
  client: ReadClient,
  { title, namespace, deployment }: Provider,
): Promise<void> {
  await wait(scope, {
    for: `${title} to run (Deployment ${namespace}/${deployment})`,
    timeoutMs: startMs,
    next: `${kubectl} -n ${namespace} describe pods`,
    trouble: () => deploymentTrouble(client, { namespace, name: deployment }),
  });
}

/** @throws BkeError BKE_TIMEOUT with what the API server said instead */
export async function waitForWebhook(
  { scope, kubectl }: Waiter,
  client: Pick<KubeClient, 'apply'>,
  { title, namespace, deployment, webhook }: Provider,
): Promise<void> {
  if (webhook === undefined) return;
  await wait(scope, {
    for: `the webhooks of ${title} to answer (Service ${namespace}/${webhook.service})`,
    timeoutMs: answerMs,
    next: `${kubectl} -n ${namespace} logs deployment/${deployment}`,
    trouble: () => webhookTrouble(client, webhook.probe),
  });
}

interface TroubleWait {
  readonly for: string;
  readonly timeoutMs: number;
  readonly next: string;
  /** undefined when it is over. */
  readonly trouble: () => Promise<string | undefined>;
}

async function wait(scope: TaskScope, { trouble, ...bounds }: TroubleWait): Promise<void> {
  await scope.wait({
    ...bounds,
    probe: async () => {
      const cause = await troubleOrFault(trouble);
      return cause === undefined ? { ready: true } : { ready: false, cause };
    },
  });
}

/** The API server itself may be away for a moment, the more so while a small machine starts everything at once. */
async function troubleOrFault(trouble: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await trouble();
  } catch (thrown) {
    if (thrown instanceof BkeError) return thrown.message;
    throw thrown;
  }
}
