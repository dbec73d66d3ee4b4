// The work of `bke config print`.
import { annotatedYaml } from '../../config/annotate.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import { effectiveFile, sourceOf } from '../../config/cluster/print.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import type { BootstrapConfig } from './bootstrap.ts';
import { readConfig } from './read.ts';

export async function runConfigPrint(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const found = await readConfig(context, readInput(input));
  if (found.kind === 'Bootstrap') return printBootstrap(found);
  const value = effectiveFile(found.config);
  const lines = [annotatedYaml(value, sourceOf(found.file, found.lineOf)), ...notSet(found.config)];
  return { kind: 'object', value, text: lines.join('') };
}

function notSet({ loadBalancer, registry, ntp }: ClusterConfig): string[] {
  const absent = [
    ...(loadBalancer === undefined ? ['loadBalancer: the endpoint is the only control plane itself'] : []),
    ...(registry === undefined ? ["registry: the site's own is used"] : []),
    ...(ntp === undefined ? ["ntp: the site's own is used, if there is one"] : []),
  ];
  return absent.map((line) => `# not set: ${line}\n`);
}

function printBootstrap({ settings, sourceOf: from }: BootstrapConfig): CommandResult {
  const { pushOpen, hostIP, ports, ...spec } = settings;
  const { registryPush, ...otherPorts } = ports;
  // A file that names the push port opens it to other machines.
  const filePorts = pushOpen ? ports : otherPorts;
  const value = {
    apiVersion: 'bke.io/v1alpha1',
    kind: 'Bootstrap',
    spec: { ...(hostIP === '' ? {} : { hostIP }), ...spec, ports: filePorts },
  };
  const text = annotatedYaml(value, (path) => (path[0] === 'spec' ? from(path.slice(1).join('.')) : ''));
  const absent = [
    ...(hostIP === '' ? ['# not set: hostIP: found on the host\n'] : []),
    ...(pushOpen
      ? []
      : [`# not set: ports.registryPush: pushes are taken from this machine only, on ${registryPush}\n`]),
  ];
  return { kind: 'object', value, text: text + absent.join('') };
}
