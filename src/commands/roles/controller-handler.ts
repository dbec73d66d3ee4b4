// The work of `bke controller run`: connects, runs the controllers until it is told to stop, and leaves nothing open.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { runControllers } from '../../controllers/process.ts';
import { inClusterConnection } from '../../kube/in-cluster.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { readConnection } from '../kubeconfig-connection.ts';
import { openRoleLog } from './log.ts';

export async function runController(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const file = read.text('kubeconfig');
  const log = openRoleLog();
  const options = {
    connection: file === undefined ? await inClusterConnection(context.env) : await readConnection(context, file),
    // A pod that is started again has the same name, and must not take its former self for itself.
    identity: `${context.env['POD_NAME'] ?? hostname()}_${randomUUID()}`,
    namespace: read.text('namespace'),
    healthPort: read.requiredNumber('healthPort'),
    metricsPort: read.requiredNumber('metricsPort'),
    log,
    now: context.now,
  };
  await runControllers(options, context.signal);
  log.info('stopped');
  return { kind: 'none' };
}
