// What on this host is bke's own, told from what others installed: by the mark in unit files and by the folder of a running program.
import { dirname } from 'node:path';
import type { Host } from '../../host/host.ts';
import { readLedger } from '../../host/ledger/ledger.ts';
import { unitFolder } from '../../host/systemd.ts';
import { ownMark } from '../../lib/own-mark.ts';
import { programsDir } from '../node/programs.ts';
import type { HostNeeds } from './check.ts';
import type { DirectoryFound, OwnThings } from './machine.ts';

export async function readOwnThings(host: Host, { reachable }: HostNeeds): Promise<OwnThings> {
  const services = await readOwnServices(host);
  return {
    services,
    pids: await readOwnProcesses(host, services),
    directories: await readDirectories(host, reachable),
    zones: await readZones(host),
  };
}

async function readOwnServices(host: Host): Promise<Set<string>> {
  const names = (await host.files.list(unitFolder)).filter((name) => name.endsWith('.service'));
  const own = new Set<string>();
  for (const name of names) {
    const text = await host.files.read(`${unitFolder}/${name}`).catch(() => undefined);
    if (text?.toString('utf8').startsWith(ownMark) === true) own.add(name.slice(0, -'.service'.length));
  }
  return own;
}

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly own: boolean;
}

/**
 * By the program they really run (one that was replaced meanwhile is still ours), by the unit they belong to, or by who started them: what runs
 * in a container of our runtime is a child of its shim.
 */
async function readOwnProcesses(host: Host, services: ReadonlySet<string>): Promise<Set<number>> {
  const pids = (await host.files.list('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const running = new Map(
    (await Promise.all(pids.map((pid) => readProcess(host, pid, services)))).map((each) => [each.pid, each]),
  );
  const isOwn = (pid: number, depth = 0): boolean => {
    const found = running.get(pid);
    if (found === undefined || depth > 64) return false;
    return found.own || isOwn(found.parent, depth + 1);
  };
  return new Set(pids.filter((pid) => isOwn(pid)));
}

async function readProcess(host: Host, pid: number, services: ReadonlySet<string>): Promise<Running> {
  const program = await host.files.readLink(`/proc/${pid}/exe`).catch(() => '');
  const stat = await textOf(host, `/proc/${pid}/stat`);
  // The name before it may hold blanks and brackets.
  const parent = Number(/^.*\) \S (\d+)/s.exec(stat)?.[1] ?? 0);
  const own = program.startsWith(`${programsDir}/`) || isOfUnit(await textOf(host, `/proc/${pid}/cgroup`), services);
  return { pid, parent, own };
}

function isOfUnit(groups: string, services: ReadonlySet<string>): boolean {
  const units = [...groups.matchAll(/\/([^/\n]+)\.service$/gm)].map(([, name]) => name ?? '');
  return units.some((name) => services.has(name));
}

async function textOf(host: Host, path: string): Promise<string> {
  return (await host.files.read(path).catch(() => undefined))?.toString('utf8') ?? '';
}

async function readZones(host: Host): Promise<Set<string>> {
  const ledger = await readLedger(host);
  return new Set(ledger.resources().flatMap(({ record: { last } }) => (last.kind === 'zone' ? [last.path] : [])));
}

async function readDirectories(host: Host, paths: readonly string[]): Promise<DirectoryFound[]> {
  const all = new Set((await Promise.all(paths.map((path) => existing(host, path)))).flat());
  const found = await Promise.all([...all].map(async (path) => ({ path, stat: await host.files.stat(path) })));
  return found.flatMap(({ path, stat }) => (stat === undefined ? [] : [{ path, mode: stat.mode, type: stat.type }]));
}

/** The parts of a path that exist, from the top down. */
async function existing(host: Host, path: string): Promise<string[]> {
  const above = dirname(path) === path ? [] : await existing(host, dirname(path));
  return (await host.files.stat(path)) === undefined ? above : [...above, path];
}
