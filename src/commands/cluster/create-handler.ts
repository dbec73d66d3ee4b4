// The work of `bke cluster create`: the file, the hosts, what is there already; then the resources, and the operation that is watched.
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { readClusterFile } from '../host/load.ts';
import { type CreateOptions, createCluster } from './create-work.ts';

export async function runClusterCreate(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const options: CreateOptions = {
    dryRun: read.flag('dryRun'),
    acceptAll: read.flag('acceptNewHostKeys'),
    ignoredChecks: read.texts('ignoreCheck'),
    connections: Math.max(1, read.requiredNumber('connections')),
    kubeconfig: read.text('kubeconfig'),
  };
  await createCluster(context, await readClusterFile(context, read.requiredText('file')), options);
  return { kind: 'none' };
}
