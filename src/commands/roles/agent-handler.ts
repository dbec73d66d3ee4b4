// The work of `bke agent run`.
import { runAgent } from '../../agent/agent.ts';
import type { CommandResult } from '../../lib/command.ts';
import type { CommandContext } from '../context.ts';
import { requireRoot } from '../require-root.ts';
import { openRoleLog } from './log.ts';

export async function runAgentRole(context: CommandContext): Promise<CommandResult> {
  requireRoot('bke agent run');
  const host = await context.openLocalHost();
  const log = openRoleLog();
  try {
    const { now, operationsDirectory } = context;
    await runAgent({ host, log, now, operationsDirectory }, context.signal);
  } finally {
    await host.close();
  }
  log.info('stopped');
  return { kind: 'none' };
}
