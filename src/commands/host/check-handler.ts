// The work of `bke host check`.
import { resolve } from 'node:path';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import { loadCluster } from '../../config/cluster/load.ts';
import { problemLines, refuseProblems } from '../../config/problem.ts';
import { connect } from '../../host/ssh/connect.ts';
import type { AcceptedKey, SshTarget } from '../../host/ssh/target.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { type InputReader, readInput } from '../../lib/input.ts';
import { runLocalOperation, throwUnlessDone } from '../../operations/local-operation.ts';
import { clusterHostNeeds } from '../../tasks/preflight/cluster-needs.ts';
import { checkPhases } from '../../tasks/preflight/many-hosts.ts';
import type { CommandContext } from '../context.ts';
import { askForNewKeys, hostTargets, type LoadedHosts, noteNewKeys } from './access.ts';
import { checkResult, tellFindings } from './check-result.ts';

/** A host that is off is told of within this; sshd that turns connections away gets more than one attempt. */
const connectTimeoutMs = 10_000;
const deadlineMs = 20_000;

export async function runHostCheck(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const loaded = await readHosts(context, read);
  const { config } = loaded;
  const ignored = [...new Set([...read.texts('ignoreCheck'), ...config.settings.ignoreChecks])];
  const acceptAll = read.flag('acceptNewHostKeys');
  const connections = Math.max(1, read.requiredNumber('connections'));
  const targets = await askForNewKeys(context, await hostTargets(context, loaded), { acceptAll, connections });
  const accepted: AcceptedKey[] = [];
  const { phases, found } = checkPhases({
    hosts: config.hosts.map((host, index) => ({
      name: host.name,
      needs: clusterHostNeeds(config, host),
      open: (signal) => logIn(targets[index], { signal, acceptAll, accepted }),
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
    concurrency: connections,
  });
  await noteNewKeys(context, accepted);
  if (result.outcome === 'cancelled') throwUnlessDone(result);
  const checked = { config, ignored, found, result };
  tellFindings(context, checked);
  return checkResult(checked);
}

async function readHosts(context: CommandContext, read: InputReader): Promise<LoadedHosts & { config: ClusterConfig }> {
  const name = read.requiredText('file');
  const place = { path: resolve(context.cwd, name), home: context.env['HOME'] };
  const { warnings, problems, raw, cluster } = await loadCluster({ ...place, name, withFiles: true });
  for (const line of problemLines(warnings)) context.note(`warning: ${line}`);
  refuseProblems(problems, name);
  if (cluster === undefined) throw new Error(`${name} has no problems and no cluster`);
  return { config: cluster.config, raw, place };
}

interface LogIn {
  readonly signal: AbortSignal;
  readonly acceptAll: boolean;
  /** Gathers what was new. */
  readonly accepted: AcceptedKey[];
}

async function logIn(target: SshTarget | undefined, { signal, acceptAll, accepted }: LogIn) {
  if (target === undefined) throw new Error('a host without a way to it');
  const host = await connect(target, { signal, acceptNew: acceptAll, connectTimeoutMs, deadlineMs });
  accepted.push(...host.newHostKeys);
  return host;
}
