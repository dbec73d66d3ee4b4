// The text of the kubelet's unit and configuration files. Pure, kept as golden files by tests.
import type { JsonObject } from '../../config/node-settings.ts';
import { ownHead, ownMark } from '../../lib/own-mark.ts';
import { fillTemplate } from '../../lib/template.ts';

export const kubeletPaths = {
  /** Files here are laid over the configuration that kubeadm writes, in the order of their names (KEP-3983). */
  configDir: '/etc/kubernetes/kubelet.conf.d',
  /** What pods get of the host's name servers, where the host's own file can't be used. */
  resolvConf: '/etc/kubernetes/resolv.conf',
  config: '/var/lib/kubelet/config.yaml',
  unit: 'kubelet.service',
} as const;

/** Every file bke writes for the kubelet but its unit. */
export const kubeletFiles = [
  `${kubeletPaths.configDir}/10-bke.conf`,
  `${kubeletPaths.configDir}/50-settings.conf`,
  kubeletPaths.resolvConf,
];

export interface KubeletUnitOptions {
  /** Path of the kubelet. */
  readonly program: string;
  readonly nodeIP: string;
  readonly providerID?: string;
  readonly nodeLabels?: Readonly<Record<string, string>>;
}

/** @param template text of assets/kubelet/kubelet.service */
export function kubeletUnit(template: string, options: KubeletUnitOptions): string {
  const { program, nodeIP, providerID, nodeLabels = {} } = options;
  const labels = Object.entries(nodeLabels).map(([name, value]) => `${name}=${value}`);
  const flags = [
    `--node-ip=${nodeIP}`,
    ...(providerID === undefined ? [] : [`--provider-id=${providerID}`]),
    ...(labels.length === 0 ? [] : [`--node-labels=${labels.join(',')}`]),
  ];
  return fillTemplate(template, {
    program,
    configDir: kubeletPaths.configDir,
    arguments: flags.map(unitWord).join(' \\\n  '),
  });
}

/** One word of a command line in a unit: systemd splits at spaces and replaces `%` and `$` (systemd.service(5), "Command lines"). */
function unitWord(word: string): string {
  const text = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(text) ? text : JSON.stringify(text);
}

/** A file of the kubelet's configuration directory. */
export function kubeletDropIn(fields: JsonObject): string {
  const document = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields };
  return `${ownHead}${JSON.stringify(document, undefined, 2)}\n`;
}

/**
 * What of a host's resolv.conf pods can use: undefined where all of it can. A name server on loopback is not the pod's, and cluster DNS does not
 * start without any: then the node itself stands for one, which refuses at once what only the outside could answer.
 */
export function podResolvConf(text: string | undefined, nodeIP: string): string | undefined {
  const lines = (text ?? '').split('\n').filter((line) => line.trim() !== '');
  const servers = lines.flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
  const usable = servers.filter((server) => !isHostsOwn(server));
  if (usable.length > 0 && usable.length === servers.length) return undefined;
  const rest = lines.filter((line) => !/^\s*(nameserver|#|;)/.test(line));
  const named = usable.length > 0 ? usable : [nodeIP];
  return [
    `${ownMark}: the host's name servers, as far as pods can reach them.`,
    ...rest,
    ...named.map((server) => `nameserver ${server}`),
    '',
  ].join('\n');
}

/** Loopback, or of one link: neither leads out of a pod to where it leads from the host. */
function isHostsOwn(address: string): boolean {
  return /^(127\.|0\.0\.0\.0$|::1?$|fe[89ab])/i.test(address);
}
