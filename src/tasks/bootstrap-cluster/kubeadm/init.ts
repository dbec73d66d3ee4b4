// `kubeadm init`, so that it can be ended anywhere and run again: what is finished is seen in the cluster itself, what is half done is gone on with.
import type { Host } from '../../../host/host.ts';
import { removeTree } from '../../../host/changes/remove-tree.ts';
import { isUp, readUnit, startAnew } from '../../../host/systemd.ts';
import { BkeError } from '../../../lib/errors.ts';
import type { TaskScope } from '../../task.ts';
import type { Reach } from '../client.ts';
import { waitForApi } from '../ready.ts';
import { hasFiles, isFinished, joinTokens, progressOf } from './cluster-state.ts';
import { runKubeadm } from './run.ts';
import { keepSettings } from './settings.ts';
import { kubeadmPaths, kubeconfigFiles, kubeletUnit, manifestFiles } from './paths.ts';

export interface InitOptions {
  readonly nodeName: string;
  /** Text of kubeadm's configuration. */
  readonly config: string;
  readonly reach: Reach;
}

/** A host that was just started has its API server back within this time. */
const answerMs = 60_000;

export async function initCluster(scope: TaskScope, options: InitOptions): Promise<void> {
  const { host } = scope;
  await scope.apply({ kind: 'file', path: kubeadmPaths.config, mode: 0o600, content: { text: options.config } });
  const begun = (await progressOf(host)) === 'begun';
  if (begun) await startKubelet(scope);
  const fresh = !begun || !(await finished(scope, options));
  if (fresh) {
    const what = begun
      ? 'go on with kubeadm init, which did not come to its end or lacks what it made'
      : 'run kubeadm init';
    await scope.act(what, async () => {
      if (!begun) await clearAttempt(host);
      await runInit(scope, begun);
    });
  }
  if ((await host.files.stat(kubeadmPaths.kubeconfig)) === undefined) return;
  await removeTokens(scope, options.reach);
  await keepSettings(scope, { ...options, fresh });
}

/** Only kubeadm starts it for the first time; somebody may have stopped it since. */
async function startKubelet(scope: TaskScope): Promise<void> {
  if (isUp(await readUnit(scope.host, kubeletUnit))) return;
  await scope.act('start kubelet.service', () => startAnew(scope.host, kubeletUnit));
}

async function finished(scope: TaskScope, { nodeName, reach }: InitOptions): Promise<boolean> {
  const { host } = scope;
  if (!(await hasFiles(host))) return false;
  return reach(host, async (client) => {
    try {
      await waitForApi(scope, client, { unit: kubeletUnit, timeoutMs: answerMs });
      return await isFinished(client, nodeName);
    } catch (thrown) {
      // kubeadm brings back what does not answer, and gives the administrator the rights that are missing before its end.
      if (thrown instanceof BkeError && openCodes.has(thrown.code)) return false;
      throw thrown;
    }
  });
}

const openCodes = new Set<string>(['BKE_TIMEOUT', 'BKE_KUBE_UNREACHABLE', 'BKE_KUBE_FAILED', 'BKE_KUBE_FORBIDDEN']);

/** Before the kubelet ran nothing can have been stored: kubeadm's files may be cut off, and it makes them anew. They are bke's own (checkHost). */
async function clearAttempt(host: Host): Promise<void> {
  await removeTree(host, kubeadmPaths.pki);
  for (const path of [...manifestFiles, ...kubeconfigFiles]) await host.files.remove(path);
}

/** Every phase of kubeadm takes what is there already; only its preflight refuses it. */
async function runInit(scope: TaskScope, again: boolean): Promise<void> {
  const skipped = ['addon/coredns', 'show-join-command', ...(again ? ['preflight'] : [])];
  await runKubeadm(scope, ['init', `--skip-phases=${skipped.join(',')}`, '--skip-token-print']);
}

/** Nobody joins this cluster. */
async function removeTokens(scope: TaskScope, reach: Reach): Promise<void> {
  await reach(scope.host, async (client) => {
    const tokens = await joinTokens(client);
    if (tokens.length === 0) return;
    await scope.act('delete the token for joining that kubeadm makes', async () => {
      for (const key of tokens) await client.delete(key);
    });
  });
}
