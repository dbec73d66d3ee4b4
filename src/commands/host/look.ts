// Logs in to hosts and checks them, as an operation: for the command that does only that, and for those that go on with the hosts.
import type { ClusterConfig, HostConfig } from '../../config/cluster/config.ts';
import { connect } from '../../host/ssh/connect.ts';
import type { AcceptedKey, SshTarget } from '../../host/ssh/target.ts';
import { runLocalOperation, throwUnlessDone } from '../../operations/local-operation.ts';
import type { HostNeeds } from '../../tasks/preflight/check.ts';
import { clusterHostNeeds } from '../../tasks/preflight/cluster-needs.ts';
import { checkPhases } from '../../tasks/preflight/many-hosts.ts';
import type { CommandContext } from '../context.ts';
import { noteNewKeys } from './access.ts';
import type { Checked } from './check-result.ts';

/** A host that is off is told of within this; sshd that turns connections away gets more than one attempt. */
const connectTimeoutMs = 10_000;
const deadlineMs = 20_000;

export interface HostToCheck {
  readonly host: HostConfig;
  readonly target: SshTarget;
}

export interface Look {
  readonly config: ClusterConfig;
  /** As its file was named, for hints. */
  readonly file: string;
  readonly hosts: readonly HostToCheck[];
  /** Names of checks. */
  readonly ignored: readonly string[];
  /** Trusts hosts that nothing is known about. */
  readonly acceptAll: boolean;
  readonly connections: number;
}

/** What was found, and the keys that were accepted; those are in known_hosts then. @throws BkeError BKE_CANCELLED */
export async function lookAtHosts(
  context: CommandContext,
  look: Look,
): Promise<{ readonly checked: Checked; readonly accepted: readonly AcceptedKey[] }> {
  const { config, ignored, acceptAll } = look;
  const accepted: AcceptedKey[] = [];
  const { phases, found } = checkPhases({
    hosts: look.hosts.map(({ host, target }) => ({
      name: host.name,
      needs: needsOf(look, host),
      open: (signal) => logIn(target, { signal, acceptAll, accepted }),
    })),
    ignored,
    now: context.now,
  });
  const result = await runLocalOperation(context, {
    action: 'host.check',
    target: `the hosts of ${config.name}`,
    phases,
    dryRun: false,
    createScope: (binding) => binding,
    concurrency: look.connections,
  });
  await noteNewKeys(context, accepted);
  if (result.outcome === 'cancelled') throwUnlessDone(result);
  const hosts = look.hosts.map(({ host }) => host);
  return { checked: { config: { ...config, hosts }, ignored, found, result }, accepted };
}

function needsOf({ config, file }: Look, host: HostConfig): HostNeeds {
  const { kubernetes, ...needs } = clusterHostNeeds(config, host);
  return kubernetes === undefined ? needs : { ...needs, kubernetes: { ...kubernetes, file } };
}

interface LogIn {
  readonly signal: AbortSignal;
  readonly acceptAll: boolean;
  /** Gathers what was new. */
  readonly accepted: AcceptedKey[];
}

async function logIn(target: SshTarget, { signal, acceptAll, accepted }: LogIn) {
  const host = await connect(target, { signal, acceptNew: acceptAll, connectTimeoutMs, deadlineMs });
  accepted.push(...host.newHostKeys);
  return host;
}
