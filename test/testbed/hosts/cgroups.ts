// Cgroups of a host: a child group of the caller's own group in each hierarchy, seen by the host as its root.
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exists } from '../files.ts';
import { TestbedError } from '../run.ts';
import type { Bed } from './bed.ts';
import { waitUntil } from './process.ts';

const mountRoot = '/sys/fs/cgroup';

/** Paths that the groups of a host get, from the caller's own groups. */
export async function plannedGroups(bed: Bed, host: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/cgroup', 'utf8')).trimEnd().split('\n');
  const groups: string[] = [];
  for (const line of lines) {
    const [, controllers = '', own = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const hierarchy = await hierarchyOf(controllers);
    if (hierarchy !== undefined) groups.push(path.join(hierarchy, own, bed.group, host));
  }
  if (groups.length === 0) throw new TestbedError(`no cgroup hierarchy is mounted below ${mountRoot}`);
  return groups;
}

/** Where a hierarchy is mounted: v1 by the controller's name, `name=systemd`, or v2 (no name), alone or beside v1. */
async function hierarchyOf(controllers: string): Promise<string | undefined> {
  const name = controllers === '' ? 'unified' : controllers.replace(/^name=/, '');
  const folder = path.join(mountRoot, name);
  if (await exists(path.join(folder, 'cgroup.procs'))) return folder;
  return controllers === '' && (await exists(path.join(mountRoot, 'cgroup.procs'))) ? mountRoot : undefined;
}

/** Makes the groups, parents first; a cpuset group is unusable until it has CPUs and memory nodes. */
export async function makeGroups(groups: string[]): Promise<void> {
  for (const group of groups) {
    for (const folder of [path.dirname(group), group]) {
      await mkdir(folder, { recursive: true });
      await inheritCpuset(folder);
    }
  }
}

async function inheritCpuset(group: string): Promise<void> {
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    const file = path.join(group, name);
    if (!(await exists(file)) || (await readFile(file, 'utf8')).trim() !== '') continue;
    await writeFile(file, await readFile(path.join(group, '..', name), 'utf8'));
  }
}

/** Pids in the groups and everything below them. */
export async function pidsIn(groups: string[]): Promise<number[]> {
  const pids = new Set<number>();
  for (const group of groups) {
    for (const folder of await tree(group)) {
      const text = await readFile(path.join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
      for (const line of text.split('\n')) if (line !== '') pids.add(Number(line));
    }
  }
  return [...pids];
}

/** Removes the groups depth first, and the bed's group when no host is left in it. */
export async function removeGroups(groups: string[]): Promise<void> {
  for (const group of groups) {
    for (const folder of (await tree(group)).reverse()) {
      const gone = await waitUntil(10, () => removed(folder));
      if (!gone) throw new TestbedError(`cgroup ${folder} cannot be removed: it still holds processes`);
    }
    await rmdir(path.dirname(group)).catch(() => undefined);
  }
}

async function removed(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    async () => !(await exists(folder)),
  );
}

/** A group and all groups below it, parents first. */
async function tree(group: string): Promise<string[]> {
  if (!(await exists(group))) return [];
  const folders = [group];
  for (const entry of await readdir(group, { withFileTypes: true })) {
    if (entry.isDirectory()) folders.push(...(await tree(path.join(group, entry.name))));
  }
  return folders;
}
