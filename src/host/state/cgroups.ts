// Control group directories that kubelet and containerd's CRI make for pods.
import type { Host } from '../host.ts';

const mountPoint = '/sys/fs/cgroup';
const podFolder = /^(kubepods(\.slice)?|k8s\.io)$/;

/** Top directories of pods' control groups: in the one tree of cgroup v2, or in each controller's of v1. */
export async function readPodCgroups(host: Host): Promise<string[]> {
  const names = await host.files.list(mountPoint);
  const roots = [mountPoint];
  const unified = names.includes('cgroup.controllers');
  if (!unified) roots.push(...names.map((name) => `${mountPoint}/${name}`));
  const found: string[] = [];
  for (const root of roots) {
    if ((await host.files.stat(root))?.type !== 'directory') continue; // `cpu -> cpu,cpuacct` is a link
    for (const name of await host.files.list(root)) if (podFolder.test(name)) found.push(`${root}/${name}`);
  }
  return found;
}

async function isDirectory(host: Host, path: string): Promise<boolean> {
  return (await host.files.stat(path))?.type === 'directory';
}

/** Removes a control group and those in it, deepest first; one that still has a process makes rmdir fail, which is returned as text. */
export async function removeCgroup(host: Host, path: string): Promise<string | undefined> {
  for (const name of await host.files.list(path)) {
    const child = `${path}/${name}`;
    if (!(await isDirectory(host, child))) continue;
    const why = await removeCgroup(host, child);
    if (why !== undefined) return why;
  }
  try {
    await host.files.remove(path);
    return undefined;
  } catch (error) {
    return `${path}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
