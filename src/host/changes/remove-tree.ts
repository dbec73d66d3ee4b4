// The one way to delete a directory with all that is in it on a host (docs/adr/0005-tree-removal.md).
import { dirname, basename, join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { Host, RemoveTreeOptions, RemoveTreeResult } from '../host.ts';

/** Directories of the system itself, at any depth; everything at depth one is refused anyway. */
const systemDirectories = new Set([
  '/etc/systemd',
  '/etc/systemd/system',
  '/usr/bin',
  '/usr/lib',
  '/usr/lib64',
  '/usr/libexec',
  '/usr/local',
  '/usr/local/bin',
  '/usr/local/lib',
  '/usr/local/libexec',
  '/usr/local/sbin',
  '/usr/sbin',
  '/usr/share',
  '/var/cache',
  '/var/lib',
  '/var/lib/systemd',
  '/var/log',
  '/var/run',
  '/var/spool',
  '/var/tmp',
  '/run/systemd',
]);
/** Whose own entries are someone's data as a whole: home directories, disks. */
const parentsOfOthers = new Set(['/home', '/mnt', '/media', '/boot', '/dev', '/proc', '/sys', '/root']);

function isRefused(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length < 2 || systemDirectories.has(path)) return true;
  const top = `/${parts[0]}`;
  return top === '/proc' || top === '/sys' || top === '/dev' || (parts.length < 3 && parentsOfOthers.has(top));
}

/** Links above the directory are followed, so that `/var/run/x` is judged as what it is. The directory itself must be none. */
async function canonical(host: Host, path: string): Promise<string | undefined> {
  const parent = await host.files.realPath(dirname(path));
  return parent === undefined ? undefined : join(parent, basename(path));
}

/**
 * Deletes a tree: never another mount (same-disk bind mounts and stacked mounts included), never through a link, never what is in `keep`.
 * What had to stay is in `left`, with the reason; nothing there is no error.
 * @throws BkeError BKE_REMOVAL_REFUSED for directories of the system.
 */
export async function removeTree(host: Host, path: string, options: RemoveTreeOptions = {}): Promise<RemoveTreeResult> {
  const real = await canonical(host, path);
  if (isRefused(join(path)) || (real !== undefined && isRefused(real))) {
    throw new BkeError('BKE_REMOVAL_REFUSED', `${path} is a directory of the system`, { host: host.name });
  }
  const stat = real === undefined ? undefined : await host.files.stat(real);
  if (real === undefined || stat === undefined) return { removed: 0, left: [] };
  if (stat.type !== 'directory') return { removed: 0, left: [{ path, why: `it is a ${stat.type}, no directory` }] };
  return host.files.removeTree(real, options);
}
