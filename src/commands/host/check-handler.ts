// The work of `bke host check`.
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { askForNewKeys, hostTargets } from './access.ts';
import { checkResult, tellFindings } from './check-result.ts';
import { readClusterFile } from './load.ts';
import { lookAtHosts } from './look.ts';

export async function runHostCheck(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const loaded = await readClusterFile(context, read.requiredText('file'));
  const { config, name: file } = loaded;
  const ignored = [...new Set([...read.texts('ignoreCheck'), ...config.settings.ignoreChecks])];
  const acceptAll = read.flag('acceptNewHostKeys');
  const connections = Math.max(1, read.requiredNumber('connections'));
  const targets = await askForNewKeys(context, await hostTargets(context, loaded), { acceptAll, connections });
  const hosts = config.hosts.flatMap((host, index) => {
    const target = targets[index];
    return target === undefined ? [] : [{ host, target }];
  });
  const { checked } = await lookAtHosts(context, { config, file, hosts, ignored, acceptAll, connections });
  tellFindings(context, checked);
  return checkResult(checked);
}
