// Waits for K3s itself: its unit stays up, its kubeconfig is written, its API server answers.
import type { Host } from '../../../host/host.ts';
import { lastLog, readUnit } from '../../../host/systemd.ts';
import { BkeError } from '../../../lib/errors.ts';
import { toError } from '../../../lib/thrown.ts';
import type { TaskScope } from '../../task.ts';
import { withCluster } from '../client.ts';
import { k3sPaths, k3sUnit } from './paths.ts';

const answerMs = 5 * 60_000;
/** Restarts during the wait after which the next one will not help either. */
const restartLimit = 5;

/** @throws BkeError BKE_TIMEOUT with what was in the way; BKE_COMMAND_FAILED with K3s's last lines where it ends again and again. */
export async function waitForServer(scope: TaskScope): Promise<void> {
  let before: number | undefined;
  await scope.wait({
    for: 'the API server of K3s to answer',
    timeoutMs: answerMs,
    next: `journalctl -u ${k3sUnit}`,
    probe: async () => {
      const trouble = await serverTrouble(scope.host);
      if (trouble === undefined) return { ready: true };
      const unit = await readUnit(scope.host, k3sUnit);
      before ??= unit.restarts;
      await refuseHopeless(scope.host, unit.restarts - before);
      const state = unit.active === 'active' ? '' : `${k3sUnit} is ${unit.active} (${unit.result}); `;
      return { ready: false, cause: `${state}${trouble}` };
    },
  });
}

async function serverTrouble(host: Host): Promise<string | undefined> {
  if ((await host.files.stat(k3sPaths.kubeconfig)) === undefined)
    return `it has not written ${k3sPaths.kubeconfig} yet`;
  try {
    await withCluster(host, k3sPaths.kubeconfig, (client) => client.request('GET', '/readyz', { timeoutMs: 5000 }));
    return undefined;
  } catch (thrown) {
    // Whatever it is, the file may be written anew and the server come yet.
    return toError(thrown).message;
  }
}

async function refuseHopeless(host: Host, restarts: number): Promise<void> {
  if (restarts <= restartLimit) return;
  throw new BkeError('BKE_COMMAND_FAILED', `K3s does not stay up: systemd started it again ${restarts} times`, {
    host: host.name,
    details: await lastLog(host, k3sUnit),
    hint: `See: journalctl -u ${k3sUnit}`,
  });
}
