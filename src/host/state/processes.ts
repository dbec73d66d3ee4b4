// The processes of a host and which of them Kubernetes' containers are: by control group and shim arguments, never by name alone (docs/adr/0006-reset-rules.md, rule 2).
import { errnoOf } from '../errno.ts';
import { defined } from '../../lib/defined.ts';
import type { Host } from '../host.ts';

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** Ticks since boot; together with the pid it names one process for ever. */
  readonly startTicks: string;
  readonly state: string;
  /** The kernel's short name (15 bytes). */
  readonly command: string;
  /** Resolved program; undefined for kernel threads. */
  readonly executable?: string;
  /** Read for container shims only: a process stuck on a dead file system can block the reader of its arguments. */
  readonly args: readonly string[];
  readonly cgroups: readonly string[];
  /** As the kernel names it, `pid:[4026531836]`; absent where it cannot be read. */
  readonly pidNamespace?: string;
}

export type ProcessStat = Pick<ProcessInfo, 'pid' | 'parent' | 'startTicks' | 'state' | 'command'>;

/** Parses /proc/PID/stat; the name may hold spaces and parentheses. */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(' ');
  const [state, parent] = fields;
  const startTicks = fields[19];
  if (state === undefined || parent === undefined || startTicks === undefined) return undefined;
  const pid = Number.parseInt(text.slice(0, open), 10);
  return { pid, parent: Number.parseInt(parent, 10), startTicks, state, command: text.slice(open + 1, close) };
}

/** Paths of /proc/PID/cgroup (`id:controllers:path` per line), without repeats. */
export function parseCgroups(text: string): string[] {
  const paths = new Set<string>();
  for (const line of text.split('\n')) {
    const path = line.split(':').slice(2).join(':');
    if (path.startsWith('/')) paths.add(path);
  }
  return [...paths];
}

function isShim(command: string): boolean {
  return command.startsWith('containerd-shim');
}

async function readText(host: Host, path: string): Promise<string | undefined> {
  try {
    return (await host.files.read(path))?.toString('utf8');
  } catch {
    return undefined; // ended while it was read
  }
}

async function readTarget(host: Host, path: string): Promise<string | undefined> {
  try {
    return (await host.files.readLink(path)).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined; // a kernel thread, or gone
  }
}

async function readProcess(host: Host, pid: string): Promise<ProcessInfo | undefined> {
  const stat = parseProcessStat((await readText(host, `/proc/${pid}/stat`)) ?? '');
  if (stat === undefined) return undefined;
  const [cgroup, executable, pidNamespace, cmdline] = await Promise.all([
    readText(host, `/proc/${pid}/cgroup`),
    readTarget(host, `/proc/${pid}/exe`),
    readTarget(host, `/proc/${pid}/ns/pid`),
    isShim(stat.command) ? readText(host, `/proc/${pid}/cmdline`) : undefined,
  ]);
  const args = cmdline === undefined ? [] : cmdline.split('\0').filter((arg) => arg !== '');
  return { ...stat, ...defined({ executable, pidNamespace }), args, cgroups: parseCgroups(cgroup ?? '') };
}

/** All processes but zombies. */
export async function readProcesses(host: Host): Promise<ProcessInfo[]> {
  const pids = (await host.files.list('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const found: ProcessInfo[] = [];
  for (let index = 0; index < pids.length; index += 32) {
    const part = await Promise.all(pids.slice(index, index + 32).map((pid) => readProcess(host, pid)));
    for (const process of part) if (process !== undefined && process.state !== 'Z') found.push(process);
  }
  return found;
}

const podCgroup = /^(kubepods|kubepods(-.+)?\.slice|k8s\.io)$/;

/** What tells the host's own from what runs in a machine or container on it (kind, LXC, nspawn), whose processes are seen from here too. */
export interface HostRoots {
  /** Where its tree of control groups begins: at that of process 1 (a host may itself be a container inside a pod). */
  readonly cgroups: readonly string[];
  readonly pidNamespace?: string;
}

/** @param self pid of bke, which runs on the host itself; the namespace of process 1 cannot be read everywhere. */
export function hostRoots(processes: readonly ProcessInfo[], self: number): HostRoots {
  const find = (pid: number): ProcessInfo | undefined => processes.find((process) => process.pid === pid);
  const cgroups = (find(1)?.cgroups ?? [])
    .map((path) => path.replace(/\/init\.scope$/, ''))
    .filter((path) => path.length > 1);
  return { cgroups, ...defined({ pidNamespace: find(self)?.pidNamespace }) };
}

function belowBase(path: string, bases: readonly string[]): string {
  const base = bases.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  return base === undefined ? path : path.slice(base.length);
}

/** Pods have process namespaces of their own; what starts them runs in the host's. */
function runsOnHost({ pidNamespace }: ProcessInfo, roots: HostRoots): boolean {
  return pidNamespace === undefined || roots.pidNamespace === undefined || pidNamespace === roots.pidNamespace;
}

/** The containerd namespace a shim serves, e.g. `k8s.io` or docker's `moby`. */
export function shimNamespace(process: ProcessInfo): string | undefined {
  const program = process.executable?.split('/').at(-1) ?? process.command;
  if (!isShim(program)) return undefined;
  const flag = process.args.findIndex((arg) => arg === '-namespace' || arg === '--namespace');
  return flag < 0 ? undefined : process.args[flag + 1];
}

/** K3s unpacks its programs here, itself among them, and runs them from here only. */
const k3sPrograms = '/var/lib/rancher/k3s/data/';

/** Why a process belongs to the containers of this host's Kubernetes; undefined where it doesn't. */
export function podProcessReason(process: ProcessInfo, roots: HostRoots): string | undefined {
  const namespace = shimNamespace(process);
  if (namespace !== undefined)
    return namespace === 'k8s.io' && runsOnHost(process, roots) ? 'container shim of namespace k8s.io' : undefined;
  for (const path of process.cgroups) {
    // At the top only: one further down is of a kubelet that runs in a container.
    const [, top = ''] = belowBase(path, roots.cgroups).split('/');
    if (podCgroup.test(top)) return `runs in the control group ${top}`;
  }
  // Its containerd outlives a K3s that was killed, and a K3s without a unit would start pods again.
  const isK3s = process.executable?.startsWith(k3sPrograms) === true && runsOnHost(process, roots);
  return isK3s ? "one of K3s's own programs" : undefined;
}

/** A process and all that it descends from: what must never be ended by it. */
export function lineage(processes: readonly ProcessInfo[], pid: number): ReadonlySet<number> {
  const parents = new Map(processes.map((process) => [process.pid, process.parent]));
  const line = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 0 && !line.has(at); at = parents.get(at))
    line.add(at);
  return line;
}

/** Whether it still lives: the same process, not a later one with its number. */
async function isAlive(host: Host, process: ProcessInfo): Promise<boolean> {
  const now = parseProcessStat((await readText(host, `/proc/${process.pid}/stat`)) ?? '');
  return now !== undefined && now.startTicks === process.startTicks && now.state !== 'Z' && now.state !== 'X';
}

/** Sends a signal to a process of this machine, and to no later one that got its number. */
export async function signalProcess(host: Host, target: ProcessInfo, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (!(await isAlive(host, target))) return;
  try {
    process.kill(target.pid, signal);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ESRCH') throw thrown;
  }
}
