// Whether the node itself works after its bootstrap: the kubelet, and on a control plane its own API server.
import { isUp, readUnit, startAnew } from '../../../host/systemd.ts';
import type { Host } from '../../../host/host.ts';
import { createKubeClient } from '../../../kube/create-client.ts';
import { BkeError } from '../../../lib/errors.ts';
import { toError } from '../../../lib/thrown.ts';
import { kubeadmPaths } from '../../bootstrap-cluster/kubeadm/paths.ts';
import { waitForApi } from '../../bootstrap-cluster/ready.ts';
import { connectionByKubeconfig } from '../../kubeconfig.ts';
import type { TaskScope } from '../../task.ts';
import { kubeletPaths } from '../kubelet-config.ts';

const limitMs = 5 * 60_000;
const askMs = 5000;
const { unit } = kubeletPaths;

/** Where kubeadm asks too, whatever the settings say. */
const healthUrl = 'http://127.0.0.1:10248/healthz';

/** Asks the kubelet of this machine; what it answers when it is well, else why not. */
export type AskKubelet = () => Promise<{ readonly well: boolean; readonly cause: string }>;

export async function askKubelet(): Promise<Awaited<ReturnType<AskKubelet>>> {
  try {
    const answer = await fetch(healthUrl, { signal: AbortSignal.timeout(askMs) });
    const cause = `it answers ${answer.status}: ${(await answer.text()).slice(0, 200)}`;
    return { well: answer.ok, cause };
  } catch (thrown) {
    const { cause, message } = toError(thrown);
    // Of fetch, the reason is inside.
    return { well: false, cause: cause === undefined ? message : toError(cause).message };
  }
}

/** A node that was made once has a kubelet that runs, whoever stopped it. */
export async function startKubelet(scope: TaskScope): Promise<void> {
  if (isUp(await readUnit(scope.host, unit))) return;
  await scope.act(`start ${unit}`, () => startAnew(scope.host, unit));
}

/** @throws BkeError BKE_TIMEOUT with the cause */
export async function waitForNode(scope: TaskScope, ask: AskKubelet): Promise<void> {
  if (scope.dryRun) return;
  await scope.wait({
    for: 'the kubelet to be healthy',
    timeoutMs: limitMs,
    intervalMs: 500,
    next: `journalctl -u ${unit}`,
    probe: async () => {
      const { active } = await readUnit(scope.host, unit);
      if (active !== 'active') return { ready: false, cause: `${unit} is ${active}` };
      const { well, cause } = await ask();
      return well ? { ready: true } : { ready: false, cause };
    },
  });
  const server = await ownServer(scope.host);
  if (server !== undefined) await waitForServer(scope, server);
}

const endpointOf = /^\s*kubeadm\.kubernetes\.io\/kube-apiserver\.advertise-address\.endpoint: "?([^\s"]+)"?\s*$/m;

/** Of a control plane: its API server by its own address, not by the endpoint behind which another one may answer. */
async function ownServer(host: Host): Promise<string | undefined> {
  const manifest = await host.files.read(`${kubeadmPaths.manifests}/kube-apiserver.yaml`);
  if (manifest === undefined) return undefined;
  const endpoint = endpointOf.exec(manifest.toString('utf8'))?.[1];
  if (endpoint !== undefined) return `https://${endpoint}`;
  throw new BkeError('BKE_BOOTSTRAP_FAILED', 'the manifest of the API server does not say where it answers', {
    host: host.name,
    hint: `See ${kubeadmPaths.manifests}/kube-apiserver.yaml on the host.`,
  });
}

async function waitForServer(scope: TaskScope, server: string): Promise<void> {
  const connection = await connectionByKubeconfig(scope.host, kubeadmPaths.kubeconfig);
  const client = createKubeClient({ ...connection, servers: [server] });
  try {
    await waitForApi(scope, client, { unit, timeoutMs: limitMs });
  } finally {
    client.close();
  }
}
