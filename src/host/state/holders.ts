// Which processes hold a mount: their directories, open files and mapped files, read from /proc only, so that a dead file system can't block it.
import type { Host } from '../host.ts';
import { isWithin } from './mounts.ts';

export interface Holder {
  readonly pid: number;
  readonly command: string;
  /** e.g. `working directory /var/lib/kubelet/pods/u1`. */
  readonly holds: string;
}

const maxHolders = 20;

async function linkTarget(host: Host, path: string): Promise<string> {
  try {
    return await host.files.readLink(path);
  } catch {
    return '';
  }
}

async function heldBy(host: Host, pid: string, mountPoint: string): Promise<string | undefined> {
  for (const [name, title] of [
    ['cwd', 'working directory'],
    ['root', 'root directory'],
    ['exe', 'running program'],
  ] as const) {
    const target = await linkTarget(host, `/proc/${pid}/${name}`);
    if (isWithin(target, mountPoint)) return `${title} ${target}`;
  }
  const files = await host.files.list(`/proc/${pid}/fd`).catch(() => []);
  for (const file of files) {
    const target = await linkTarget(host, `/proc/${pid}/fd/${file}`);
    if (isWithin(target, mountPoint)) return `open file ${target}`;
  }
  return undefined;
}

/** At most 20 processes that keep `mountPoint` busy. */
export async function readHolders(host: Host, mountPoint: string): Promise<Holder[]> {
  const holders: Holder[] = [];
  for (const pid of (await host.files.list('/proc')).filter((name) => /^[0-9]+$/.test(name))) {
    const holds = await heldBy(host, pid, mountPoint);
    if (holds === undefined) continue;
    const command = (await host.files.read(`/proc/${pid}/comm`).catch(() => undefined))?.toString('utf8').trim();
    holders.push({ pid: Number(pid), command: command ?? '?', holds });
    if (holders.length >= maxHolders) break;
  }
  return holders;
}
