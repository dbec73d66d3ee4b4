// The work of `bke config validate`.
import type { HostRole } from '../../config/cluster/file.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import { listedShort, plural } from '../../lib/text.ts';
import type { CommandContext } from '../context.ts';
import { readConfig } from './read.ts';

/** Hosts of a role whose names are told. */
const mostNames = 5;

export async function runConfigValidate(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const file = read.requiredText('file');
  const found = await readConfig(context, read);
  if (found.kind === 'Bootstrap') {
    return {
      kind: 'object',
      value: { valid: true, file, kind: found.kind, warnings: [] },
      text: `${file} is valid.\n`,
    };
  }
  const { config, warnings } = found;
  const { name, namespace, kubernetesVersion, hosts } = config;
  const value = {
    valid: true,
    file,
    kind: found.kind,
    name,
    namespace,
    kubernetesVersion,
    hosts: hosts.length,
    warnings,
  };
  return {
    kind: 'object',
    value,
    text: `${file} is valid.\n${summaryLines(config)
      .map((line) => `  ${line}\n`)
      .join('')}`,
  };
}

function summaryLines(config: ClusterConfig): string[] {
  const { name, namespace, kubernetesVersion, network } = config;
  const rows = [
    ['cluster', `${name} in namespace ${namespace}${config.management ? ', to become the management cluster' : ''}`],
    ['Kubernetes', kubernetesVersion],
    ['control plane', hostsWith(config, 'control-plane')],
    ['workers', hostsWith(config, 'worker')],
    ['endpoint', endpointText(config)],
    [
      'network',
      `pods ${network.podCIDR}, services ${network.serviceCIDR}, ${network.cni === 'none' ? 'no network plugin' : network.cni}`,
    ],
    ['registry', config.registry === undefined ? "the site's own" : `${config.registry.host}:${config.registry.port}`],
    [
      'add-ons',
      listedShort(
        config.addons.map((addon) => addon.name),
        mostNames,
      ) || 'none',
    ],
  ];
  const width = Math.max(...rows.map(([title = '']) => title.length));
  return rows.map(([title = '', text = '']) => `${title.padEnd(width)}  ${text}`);
}

function hostsWith({ hosts }: ClusterConfig, role: HostRole): string {
  const names = hosts.filter(({ roles }) => roles.includes(role)).map(({ name }) => name);
  return names.length === 0 ? 'none' : `${plural(names.length, 'host')}: ${listedShort(names, mostNames)}`;
}

function endpointText({ controlPlaneEndpoint: { host, port }, loadBalancer }: ClusterConfig): string {
  const whose = {
    keepalived: 'an address that bke puts up by keepalived',
    external: 'a load balancer elsewhere',
    none: 'the only control plane: it cannot become highly available later',
  }[loadBalancer ?? 'none'];
  return `${host}:${port}, ${whose}`;
}
