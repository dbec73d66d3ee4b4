// The mounts of this host and what they mean for a reset: which can hang, which the user mounts at boot, what covers a path.
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import { runBounded } from './bounded.ts';
import { decodePath, isWithin, type Mount, parseMountInfo } from './mounts.ts';

/** @throws BkeError BKE_SYSTEM where there is no list of mounts: without it nobody knows what may be deleted. */
export async function readMounts(host: Host): Promise<Mount[]> {
  const path = '/proc/self/mountinfo';
  const text = await host.files.read(path, { maxBytes: 64 << 20 });
  if (text === undefined) {
    const hint = 'In a chroot or container: mount -t proc proc /proc';
    throw new BkeError('BKE_SYSTEM', `${path} is not there: /proc is not mounted`, { host: host.name, hint });
  }
  return parseMountInfo(text.toString('utf8'));
}

const networkTypes =
  /^(nfs[34]?|ceph|cifs|smb[23]?|9p|afs|glusterfs|lustre|gpfs|ncpfs|coda|ocfs2|beegfs|fuse(blk)?(\..+)?|virtiofs)$/;

/** Its answers come from another machine or process, which may be dead: nothing on it is asked without need. */
export function isNetworkMount(mount: Mount): boolean {
  return networkTypes.test(mount.fileSystem);
}

/** Answers whether a path can be looked at without the risk of waiting for ever. */
export type Reach = (path: string) => Promise<boolean>;

const answerMs = 3000;

/** Asks each network file system a path lies on once, from a process of its own that may hang in our place. */
export function createReach(host: Host, mounts: readonly Mount[]): Reach {
  const asked = new Map<number, Promise<boolean>>();
  const answers = (mount: Mount): Promise<boolean> => {
    const known = asked.get(mount.id);
    if (known !== undefined) return known;
    const answer = runBounded(host, ['stat', '-t', '--', mount.mountPoint], { timeoutMs: answerMs });
    const good = answer.then(({ exitCode }) => exitCode === 0);
    asked.set(mount.id, good);
    return good;
  };
  return async (path) => {
    const above = mounts.filter(
      (mount) => isNetworkMount(mount) && mount.mountPoint !== '/' && isWithin(path, mount.mountPoint),
    );
    for (const mount of above) if (!(await answers(mount))) return false;
    return true;
  };
}

/** Mount points of /etc/fstab (octal escapes decoded). */
export function fstabMountPoints(text: string): Set<string> {
  const points = new Set<string>();
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    const point = fields[1];
    if (point === undefined || fields[0]?.startsWith('#') === true || !point.startsWith('/')) continue;
    const decoded = decodePath(point);
    points.add(decoded.length > 1 ? decoded.replace(/\/+$/, '') : decoded);
  }
  return points;
}

export async function readFstab(host: Host): Promise<Set<string>> {
  return fstabMountPoints((await host.files.read('/etc/fstab').catch(() => undefined))?.toString('utf8') ?? '');
}
