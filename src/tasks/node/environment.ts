// What Kubernetes needs of a host's kernel, hosts file and clock, before any of its programs.
import { readKernelValue } from '../../host/changes/sysctl.ts';
import type { Task, TaskScope } from '../task.ts';
import { setTimeServers } from './time-servers.ts';

export interface EnvironmentParameters {
  /** Name of the node. */
  readonly nodeName: string;
  readonly nodeIP: string;
  /** Absent: the clock is left to what keeps it. */
  readonly timeServers?: readonly string[];
}

/** overlay: containers' file systems. br_netfilter: rules for what crosses a bridge of pods. nf_conntrack: what kube-proxy sets limits of. */
const modules = ['overlay', 'br_netfilter', 'nf_conntrack'];
export const modulesFile = '/etc/modules-load.d/bke-node.conf';
const kernelValues: Readonly<Record<string, string>> = {
  'net.bridge.bridge-nf-call-iptables': '1',
  'net.bridge.bridge-nf-call-ip6tables': '1',
  'net.ipv4.ip_forward': '1',
};
/** Files are read in the order of their names, and many systems' own list (99-sysctl.conf) turns forwarding off. */
export const kernelValuesFile = '/etc/sysctl.d/99-zz-bke-node.conf';

export const environmentTask: Task<EnvironmentParameters> = {
  name: 'node/environment',
  title: () => 'Kernel modules, kernel values and the name of the node',
  timeoutMs: 2 * 60_000,
  run: async (scope, parameters) => {
    await scope.apply({ kind: 'base-chains' });
    await loadModules(scope);
    await setKernelValues(scope);
    await nameNode(scope, parameters);
    if (parameters.timeServers !== undefined) await setTimeServers(scope, parameters.timeServers);
  },
};

async function loadModules(scope: TaskScope): Promise<void> {
  const text = `# Written by bke: what Kubernetes needs.\n${modules.join('\n')}\n`;
  await scope.apply({ kind: 'file', path: modulesFile, mode: 0o644, content: { text } });
  for (const name of modules) await scope.apply({ kind: 'module', name });
}

/**
 * Everything that root runs shares them, most pods too: with the usual 128 containerd and the kubelet end in "too many open files" on a busy node.
 * Only ever made more.
 */
const watchers = { name: 'fs.inotify.max_user_instances', least: 8192 };

async function kernelValuesOf({ host }: TaskScope): Promise<Readonly<Record<string, string>>> {
  const now = await readKernelValue(host, watchers.name);
  if (now === undefined) return kernelValues;
  return { ...kernelValues, [watchers.name]: String(Math.max(Number(now), watchers.least)) };
}

async function setKernelValues(scope: TaskScope): Promise<void> {
  const values = await kernelValuesOf(scope);
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${value}\n`);
  const text = `# Written by bke: what Kubernetes needs.\n${lines.join('')}`;
  await scope.apply({ kind: 'file', path: kernelValuesFile, mode: 0o644, content: { text } });
  for (const [name, value] of Object.entries(values)) await scope.apply({ kind: 'sysctl', name, value });
}

/** kubeadm looks the name up, and waits ten seconds for a name server where it finds nothing. What the host has for it already stays. */
export async function nameNode(
  scope: TaskScope,
  { nodeName, nodeIP }: Pick<EnvironmentParameters, 'nodeName' | 'nodeIP'>,
): Promise<void> {
  const hosts = (await scope.host.files.read('/etc/hosts'))?.toString('latin1') ?? '';
  const others = hosts.split('\n').filter((line) => !line.includes('# bke: '));
  const named = others.some((line) => {
    const [, ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    return names.some((name) => name.toLowerCase() === nodeName.toLowerCase());
  });
  if (!named) await scope.apply({ kind: 'hosts-entry', address: nodeIP, names: [nodeName] });
}
