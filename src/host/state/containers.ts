// Containers of others in a containerd: in any namespace but Kubernetes' own.
import type { Host } from '../host.ts';
import { programOutput } from './program.ts';
import { type ProcessInfo, shimNamespace } from './processes.ts';

export const containerdSocket = '/run/containerd/containerd.sock';
const podNamespace = 'k8s.io';

/** A containerd by its socket and the folder of what runs in it. */
interface Runtime {
  readonly socket: string;
  readonly tasks: string;
}

const systemRuntime: Runtime = {
  socket: containerdSocket,
  tasks: '/run/containerd/io.containerd.runtime.v2.task',
};
const k3sRuntime: Runtime = {
  socket: '/run/k3s/containerd/containerd.sock',
  tasks: '/run/k3s/containerd/io.containerd.runtime.v2.task',
};

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

async function taskContainers(host: Host, { tasks }: Runtime): Promise<string[]> {
  const found: string[] = [];
  for (const namespace of await host.files.list(tasks)) {
    if (namespace === podNamespace) continue;
    for (const id of await host.files.list(`${tasks}/${namespace}`)) found.push(`${namespace}/${id}`);
  }
  return found;
}

function shimContainers(processes: readonly ProcessInfo[], { socket }: Runtime): string[] {
  return processes.flatMap((process) => {
    const namespace = shimNamespace(process);
    if (namespace === undefined || namespace === podNamespace || !servesSocket(process, socket)) return [];
    return [`${namespace}/${process.args[process.args.indexOf('-id') + 1] ?? '?'}`];
  });
}

/** `namespace/container` of everything that isn't a pod's; asked of containerd where it answers, and read from its shims and task directories. */
export async function readForeignContainers(host: Host, processes: readonly ProcessInfo[]): Promise<string[]> {
  const running = await runningContainers(host, processes, systemRuntime);
  return [...new Set([...(await askedContainers(host)), ...running])].sort();
}

/** The same of K3s's own containerd, of those that run: somebody used it beside K3s, and it goes with K3s. */
export async function readK3sContainers(host: Host, processes: readonly ProcessInfo[]): Promise<string[]> {
  return [...new Set(await runningContainers(host, processes, k3sRuntime))].sort();
}

async function runningContainers(host: Host, processes: readonly ProcessInfo[], runtime: Runtime): Promise<string[]> {
  return [...(await taskContainers(host, runtime)), ...shimContainers(processes, runtime)];
}
