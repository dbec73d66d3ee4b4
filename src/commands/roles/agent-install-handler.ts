// The work of `bke agent install`: what it is told comes in by stdin, for there is a token in it.
import { type AgentConfig, agentConfig } from '../../api/agent-config.ts';
import { type Problem, refuseProblems } from '../../config/problem.ts';
import type { Host } from '../../host/host.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import { tryJson } from '../../lib/try-json.ts';
import { agentPhases } from '../../tasks/agent/install.ts';
import type { CommandContext } from '../context.ts';
import { runOnThisHost } from '../host-operation.ts';
import { ownBinary } from '../own-binary.ts';
import { requireRoot } from '../require-root.ts';

/** Certificates and a token. */
const mostBytes = 1 << 20;
const command = 'bke agent install';

export async function installAgent(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  requireRoot(command);
  const host = await context.openLocalHost();
  try {
    const config = await readConfig(context, host);
    const bke = await ownBinary(host, command);
    const result = await runOnThisHost(context, {
      host,
      action: 'agent.install',
      phases: agentPhases({ config, bke }),
      dryRun: readInput(input).flag('dryRun'),
      scopeOf: () => 'enrol',
      next: () => [],
      ...(config.broughtTo === undefined ? {} : { binary: config.broughtTo }),
    });
    if (!result.changed) context.note('Nothing to do: the agent runs, and the cluster hears it.');
    return { kind: 'none' };
  } finally {
    await host.close();
  }
}

/** @throws BkeError BKE_CONFIG_INVALID with every problem; none repeats what was given. */
async function readConfig(context: CommandContext, host: Host): Promise<AgentConfig> {
  const parsed = agentConfig.safeParse(tryJson(await readStdin(context)));
  const problems = parsed.success
    ? await strangeBinary(host, parsed.data)
    : parsed.error.issues.map(
        ({ path, message }): Problem => ({ at: 'stdin', field: path.map(String).join('.'), message }),
      );
  refuseProblems(problems, 'what the agent is told');
  if (!parsed.success) throw new Error('problems were thrown');
  return parsed.data;
}

/** It is removed in the end: that may only be the bke that runs now. */
async function strangeBinary(host: Host, { broughtTo }: AgentConfig): Promise<Problem[]> {
  if (broughtTo === undefined || [undefined, process.execPath].includes(await host.files.realPath(broughtTo)))
    return [];
  return [{ at: 'stdin', field: 'broughtTo', message: `this bke was not brought to ${broughtTo}` }];
}

async function readStdin({ stdin }: CommandContext): Promise<string> {
  if (stdin.isTTY === true) return '';
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    // What is too much is no JSON any more, and told as that.
    if (bytes > mostBytes) break;
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
