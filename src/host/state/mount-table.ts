// The mounts of this host and what they mean for a reset: which can hang, which the user mounts at boot, what covers a path.
import type { Host } from '../host.ts';
import { isWithin, type Mount, parseMountInfo } from './mounts.ts';

export async function readMounts(host: Host): Promise<Mount[]> {
  const text = await host.files.read('/proc/self/mountinfo', { maxBytes: 64 << 20 });
  return parseMountInfo(text?.toString('utf8') ?? '');
}

const networkTypes =
  /^(nfs[34]?|ceph|cifs|smb[23]?|9p|afs|glusterfs|lustre|gpfs|ncpfs|coda|ocfs2|beegfs|fuse(blk)?(\..+)?|virtiofs)$/;

/** Its answers come from another machine or process, which may be dead: nothing on it is asked without need. */
export function isNetworkMount(mount: Mount): boolean {
  return networkTypes.test(mount.fileSystem);
}

/** The mount a path lies on: the last of those with the longest mount point. */
export function coveringMount(mounts: readonly Mount[], path: string): Mount | undefined {
  let best: Mount | undefined;
  for (const mount of mounts) {
    if (!isWithin(path, mount.mountPoint)) continue;
    if (best === undefined || mount.mountPoint.length >= best.mountPoint.length) best = mount;
  }
  return best;
}

/** Whether a path can be looked at without the risk of waiting for ever. */
export function isReachable(mounts: readonly Mount[], path: string): boolean {
  const mount = coveringMount(mounts, path);
  return mount === undefined || !isNetworkMount(mount) || mount.mountPoint === '/';
}

/** Mount points of /etc/fstab (octal escapes decoded). */
export function fstabMountPoints(text: string): Set<string> {
  const points = new Set<string>();
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    const point = fields[1];
    if (point === undefined || fields[0]?.startsWith('#') === true || !point.startsWith('/')) continue;
    const decoded = point.replaceAll(/\\(0\d\d|1[0-7]\d)/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    points.add(decoded.length > 1 ? decoded.replace(/\/+$/, '') : decoded);
  }
  return points;
}

export async function readFstab(host: Host): Promise<Set<string>> {
  return fstabMountPoints((await host.files.read('/etc/fstab').catch(() => undefined))?.toString('utf8') ?? '');
}
