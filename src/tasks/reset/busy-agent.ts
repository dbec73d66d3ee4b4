// The agent of this host at work while a person wants the host reset: what it does would be undone, and it would hold the lock until it is done.
import type { Host } from '../../host/host.ts';
import { ownerOfHost } from '../../host/ledger/ledger.ts';
import type { LockOwner } from '../../host/ledger/lock.ts';
import { reasonOf } from '../../host/state/bounded.ts';
import { trySystemctl } from '../../host/systemd.ts';
import { BkeError } from '../../lib/errors.ts';
import { agentCommand, agentUnit } from '../agent/paths.ts';

/** Its unit gives it a minute to come to a safe point. */
const stopMs = 90_000;
const startMs = 30_000;

/** The claim on the lock of this host where its agent holds it: a step that changes the host runs. */
export async function busyAgent(host: Host): Promise<LockOwner | undefined> {
  const owner = await ownerOfHost(host);
  return owner?.command === agentCommand ? owner : undefined;
}

/** @throws BkeError BKE_LOCKED where it can't be stopped */
export async function stopAgent(host: Host): Promise<void> {
  const stopped = await trySystemctl(host, ['stop', '--', agentUnit], stopMs);
  if ((await busyAgent(host)) === undefined) return;
  throw new BkeError('BKE_LOCKED', `the agent of this host does not stop${why(stopped)}`, {
    host: host.name,
    hint: `Look at 'systemctl status ${agentUnit}', then run the same command again.`,
  });
}

function why(stopped: Awaited<ReturnType<typeof trySystemctl>>): string {
  return stopped === undefined || stopped.exitCode === 0 ? '' : `: ${reasonOf(stopped)}`;
}

/** The reset did not begin: what the agent was at goes on. */
export async function resumeAgent(host: Host): Promise<void> {
  await trySystemctl(host, ['start', '--', agentUnit], startMs);
}
