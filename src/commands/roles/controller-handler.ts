// The work of `bke controller run`: connects, runs the controllers until it is told to stop, and leaves nothing open.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { runControllers } from '../../controllers/process.ts';
import type { KubeConnection } from '../../kube/connection.ts';
import { inClusterConnection } from '../../kube/in-cluster.ts';
import { connectionFromKubeconfig } from '../../kube/kubeconfig.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { openRoleLog } from './log.ts';

export async function runController(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const log = openRoleLog();
  const options = {
    connection: await connect(context, read.text('kubeconfig')),
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

async function connect(context: CommandContext, file: string | undefined): Promise<KubeConnection> {
  if (file === undefined) return inClusterConnection(context.env);
  const path = resolve(context.cwd, file);
  const readBeside = (name: string): Promise<string> => readFile(resolve(dirname(path), name), 'utf8');
  return connectionFromKubeconfig(await readFile(path, 'utf8'), { file, readFile: readBeside });
}
