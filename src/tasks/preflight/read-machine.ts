// Looks at this host for the preflight checks: changes nothing, and asks no more than the needs call for.
import { dirname } from 'node:path';
import type { Host } from '../../host/host.ts';
import { findProgram, programOutput } from '../../host/state/program.ts';
import type { HostNeeds } from './check.ts';
import { readLibraryVersions } from './libraries.ts';
import { readListeners } from './listeners.ts';
import type { DirectoryFound, FreeSpace, Machine } from './machine.ts';
import { readRuntimes } from './runtimes.ts';

export async function readMachine(host: Host, needs: HostNeeds, now: Date): Promise<Machine> {
  const [system = '', architecture = ''] = ((await programOutput(host, ['uname', '-s', '-m'])) ?? '').trim().split(' ');
  const { glibc, glibcxx } = await readLibraryVersions(host);
  return {
    hostname: await readHostname(host),
    root: (await programOutput(host, ['id', '-u']))?.trim() === '0',
    system,
    architecture,
    glibc,
    glibcxx,
    systemd: await readSystemd(host),
    cgroup: await readCgroup(host),
    now,
    listeners: await readListeners(
      host,
      needs.ports.map(({ port }) => port),
    ),
    free: await readFree(host, needs),
    missingTools: await readMissingTools(host, needs.tools),
    directories: await readDirectories(host, needs.reachable),
    runtimes: needs.runtime ? await readRuntimes(host) : [],
    firewalls: await readFirewalls(host),
  };
}

export async function readHostname(host: Host): Promise<string> {
  return ((await host.files.read('/proc/sys/kernel/hostname')) ?? '').toString().trim();
}

async function readSystemd(host: Host): Promise<Machine['systemd']> {
  const running = (await host.files.stat('/run/systemd/system'))?.type === 'directory';
  const version = /^systemd (\d+)/.exec((await programOutput(host, ['systemctl', '--version'])) ?? '')?.[1];
  return { running, version: version === undefined ? undefined : Number(version) };
}

async function readCgroup(host: Host): Promise<Machine['cgroup']> {
  const has = async (name: string): Promise<boolean> => (await host.files.stat(`/sys/fs/cgroup/${name}`)) !== undefined;
  if (await has('cgroup.controllers')) return 'v2';
  if (!(await has('memory'))) return 'none';
  return (await has('unified')) ? 'hybrid' : 'v1';
}

/** At the nearest directory above a path that exists. */
async function readFree(host: Host, { space }: HostNeeds): Promise<Map<string, FreeSpace>> {
  const free = new Map<string, FreeSpace>();
  for (const { path } of space) {
    const [there = '/'] = (await existing(host, path)).slice(-1);
    const answer = await programOutput(host, ['df', '--block-size=1', '--output=avail,target', there]);
    const [, bytes, fileSystem] = /^\s*(\d+)\s+(.+)$/.exec(answer?.trim().split('\n').at(-1) ?? '') ?? [];
    if (bytes !== undefined && fileSystem !== undefined) free.set(path, { fileSystem, bytes: Number(bytes) });
  }
  return free;
}

async function readMissingTools(host: Host, tools: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    tools.map(async (name) => ((await findProgram(host, name)) === undefined ? [name] : [])),
  );
  return found.flat();
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

async function readFirewalls(host: Host): Promise<string[]> {
  const names = ['firewalld', 'ufw'];
  const active = await Promise.all(
    names.map(async (name) => {
      const answer = await programOutput(host, [
        'systemctl',
        'show',
        '--property=ActiveState',
        '--value',
        '--',
        `${name}.service`,
      ]);
      return answer?.trim() === 'active' ? [name] : [];
    }),
  );
  return active.flat();
}
