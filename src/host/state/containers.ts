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

/** `namespace/container` of everything that isn't a pod's; asked of containerd where it answers, else read from its shims and task directories. */
export async function readForeignContainers(host: Host, processes: readonly ProcessInfo[]): Promise<string[]> {
  const found = new Set<string>();
  if ((await host.files.stat(containerdSocket)) !== undefined) {
    for (const namespace of await ctr(host, ['namespaces', 'list', '-q'])) {
      if (namespace === podNamespace) continue;
      for (const id of await ctr(host, ['-n', namespace, 'containers', 'list', '-q'])) found.add(`${namespace}/${id}`);
    }
  }
  for (const namespace of await host.files.list(taskFolder)) {
    if (namespace === podNamespace) continue;
    for (const id of await host.files.list(`${taskFolder}/${namespace}`)) found.add(`${namespace}/${id}`);
  }
  for (const process of processes) {
    const namespace = shimNamespace(process);
    if (namespace === undefined || namespace === podNamespace || !servesSocket(process, containerdSocket)) continue;
    const flag = process.args.indexOf('-id');
    found.add(`${namespace}/${process.args[flag + 1] ?? '?'}`);
  }
  return [...found].sort();
}
