// Containers of others in a containerd: in any namespace but Kubernetes' own.
import type { Host } from '../host.ts';
import { programOutput } from './program.ts';
import { type ProcessInfo, shimNamespace } from './processes.ts';

export const containerdSocket = '/run/containerd/containerd.sock';
const podNamespace = 'k8s.io';
const taskFolder = '/run/containerd/io.containerd.runtime.v2.task';

function servesSocket(process: ProcessInfo, socket: string): boolean {
  const flag = process.args.findIndex((arg) => arg === '-address' || arg === '--address');
  return flag >= 0 && process.args[flag + 1] === socket;
}

async function ctr(host: Host, args: readonly string[]): Promise<string[]> {
  const text = await programOutput(host, ['ctr', '--address', containerdSocket, '--connect-timeout', '3s', ...args], {
    timeoutMs: 8000,
  }).catch(() => undefined);
  return (text ?? '').split('\n').filter((line) => line !== '');
}

/** What containerd itself says; nothing where it doesn't answer. */
async function askedContainers(host: Host): Promise<string[]> {
  if ((await host.files.stat(containerdSocket)) === undefined) return [];
  const found: string[] = [];
  for (const namespace of await ctr(host, ['namespaces', 'list', '-q'])) {
    if (namespace === podNamespace) continue;
    for (const id of await ctr(host, ['-n', namespace, 'containers', 'list', '-q'])) found.push(`${namespace}/${id}`);
  }
  return found;
}

async function taskContainers(host: Host): Promise<string[]> {
  const found: string[] = [];
  for (const namespace of await host.files.list(taskFolder)) {
    if (namespace === podNamespace) continue;
    for (const id of await host.files.list(`${taskFolder}/${namespace}`)) found.push(`${namespace}/${id}`);
  }
  return found;
}

function shimContainers(processes: readonly ProcessInfo[]): string[] {
  return processes.flatMap((process) => {
    const namespace = shimNamespace(process);
    if (namespace === undefined || namespace === podNamespace || !servesSocket(process, containerdSocket)) return [];
    return [`${namespace}/${process.args[process.args.indexOf('-id') + 1] ?? '?'}`];
  });
}

/** `namespace/container` of everything that isn't a pod's; asked of containerd where it answers, and read from its shims and task directories. */
export async function readForeignContainers(host: Host, processes: readonly ProcessInfo[]): Promise<string[]> {
  const found = [...(await askedContainers(host)), ...(await taskContainers(host)), ...shimContainers(processes)];
  return [...new Set(found)].sort();
}
