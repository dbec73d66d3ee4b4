// What on this host is bke's own, told from what others installed: by the mark in unit files and by the folder of a running program.
import { dirname } from 'node:path';
import type { Host } from '../../host/host.ts';
import { unitFolder } from '../../host/systemd.ts';
import { ownMark } from '../../lib/own-mark.ts';
import { programsDir } from '../node/programs.ts';
import type { HostNeeds } from './check.ts';
import type { DirectoryFound, OwnThings } from './machine.ts';

export async function readOwnThings(host: Host, { reachable }: HostNeeds): Promise<OwnThings> {
  return {
    services: await readOwnServices(host),
    pids: await readOwnProcesses(host),
    directories: await readDirectories(host, reachable),
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

/** By the program they really run; one that was replaced meanwhile is still ours. */
async function readOwnProcesses(host: Host): Promise<Set<number>> {
  const own = new Set<number>();
  for (const pid of (await host.files.list('/proc')).filter((name) => /^\d+$/.test(name))) {
    const program = await host.files.readLink(`/proc/${pid}/exe`).catch(() => '');
    if (program.startsWith(`${programsDir}/`)) own.add(Number(pid));
  }
  return own;
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
