// The options of `bke init`, with openFuyao's spellings beside them, and the settings layers they make.
import type { BootstrapChoice, Ports, SettingsLayer } from '../../config/bootstrap.ts';
import { checkNames } from '../../lib/check-names.ts';
import type { OptionSpec } from '../../lib/command.ts';
import type { InputReader } from '../../lib/input.ts';
import { trustOptions } from '../bundle/options.ts';

/** Of src/config/bootstrap.ts, which the declaration of a command must not load. */
export const bootstrapChoices: readonly BootstrapChoice[] = ['k3s', 'kubeadm', 'none'];

export const initOptions: readonly OptionSpec[] = [
  { name: 'config', type: 'path', placeholder: 'FILE', summary: 'bootstrap.yaml; options win over it' },
  {
    name: 'bundle',
    type: 'path',
    placeholder: 'FILE',
    summary: 'bundle with the programs, files, charts and images to serve',
  },
  ...trustOptions,
  {
    name: 'bootstrap',
    type: 'text',
    placeholder: 'KIND',
    choices: bootstrapChoices,
    summary: 'what the bootstrap cluster is made by; none: local services and containerd only (default: k3s)',
  },
  {
    name: 'host-ip',
    type: 'text',
    placeholder: 'IP',
    aliases: ['hostIP'],
    summary: 'address other hosts reach this host by (default: found by the default route)',
  },
  {
    name: 'domain',
    type: 'text',
    placeholder: 'NAME',
    summary: 'site name of the services (default: deploy.bke.internal)',
  },
  {
    name: 'registry-port',
    type: 'port',
    placeholder: 'PORT',
    aliases: ['imageRepoPort'],
    summary: 'image registry (default: 40443)',
  },
  {
    name: 'registry-push-port',
    type: 'port',
    placeholder: 'PORT',
    summary: 'take pushes from other machines on this port (default: 40444, this machine only)',
  },
  {
    name: 'file-port',
    type: 'port',
    placeholder: 'PORT',
    aliases: ['yumRepoPort'],
    summary: 'file repository (default: 40080)',
  },
  {
    name: 'chart-port',
    type: 'port',
    placeholder: 'PORT',
    aliases: ['chartRepoPort'],
    summary: 'chart repository (default: 38080)',
  },
  {
    name: 'kubernetes-port',
    type: 'port',
    placeholder: 'PORT',
    aliases: ['kubernetesPort'],
    summary: 'API server of the bootstrap cluster (default: 36443)',
  },
  { name: 'ui', type: 'flag', default: true, summary: 'without the web UI, which this bke does not have yet' },
  { name: 'ui-port', type: 'port', placeholder: 'PORT', summary: 'kept free for the web UI (default: 30010)' },
  {
    name: 'data-dir',
    type: 'path',
    placeholder: 'DIR',
    summary: 'images, files and charts (default: $BKE_WORKSPACE or /var/lib/bke/services)',
  },
  {
    name: 'ignore-check',
    type: 'text',
    placeholder: 'NAME',
    choices: checkNames,
    repeatable: true,
    summary: 'leave a preflight check out',
  },
  {
    name: 'file',
    short: 'f',
    type: 'path',
    placeholder: 'FILE',
    summary: 'cluster.yaml of a cluster to make then, as `bke cluster create` does',
  },
  {
    name: 'accept-new-host-keys',
    type: 'flag',
    summary: 'with -f: trust its hosts that nothing is known about, and note their keys in ~/.ssh/known_hosts',
  },
  { name: 'dry-run', type: 'flag', summary: 'show what would be done and change nothing' },
  { name: 'yes', short: 'y', type: 'flag', aliases: ['confirm'], summary: 'do not ask' },
];

/** Setting -> the option that gives it. */
const optionOf: Readonly<Record<string, string>> = {
  hostIP: 'host-ip',
  domain: 'domain',
  'ports.registry': 'registry-port',
  'ports.registryPush': 'registry-push-port',
  'ports.files': 'file-port',
  'ports.charts': 'chart-port',
  'ports.kubernetes': 'kubernetes-port',
  'ports.ui': 'ui-port',
  dataDir: 'data-dir',
  bootstrap: 'bootstrap',
};

/** `--hostIP` where it was typed so. */
function asTyped(field: string, argv: readonly string[]): string {
  const option = initOptions.find(({ name }) => name === optionOf[field]);
  const names = option === undefined ? [] : [option.name, ...(option.aliases ?? [])].map((name) => `--${name}`);
  return names.find((name) => argv.some((word) => word === name || word.startsWith(`${name}=`))) ?? names[0] ?? field;
}

/** What the options say. @param argv the words they were typed in. */
export function optionLayer(input: InputReader, argv: readonly string[]): SettingsLayer {
  const pushPort = input.number('registryPushPort');
  return {
    source: 'option',
    place: (field) => ({ at: asTyped(field, argv), field: '' }),
    hostIP: input.text('hostIp'),
    domain: input.text('domain'),
    ports: definedPorts({
      registry: input.number('registryPort'),
      registryPush: pushPort,
      files: input.number('filePort'),
      charts: input.number('chartPort'),
      kubernetes: input.number('kubernetesPort'),
      ui: input.number('uiPort'),
    }),
    pushOpen: pushPort === undefined ? undefined : true,
    dataDir: input.text('dataDir'),
    bootstrap: bootstrapChoices.find((choice) => choice === input.text('bootstrap')),
  };
}

export function definedPorts(ports: Readonly<Partial<Record<keyof Ports, number | undefined>>>): Partial<Ports> {
  return Object.fromEntries(Object.entries(ports).filter(([, port]) => port !== undefined));
}
