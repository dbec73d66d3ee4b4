// Directories that bke does not fill with data of its own: they are the system's, or not there after a boot.
import { isAbsolute, normalize } from 'node:path';

/** Their attributes and what lies in them are not ours; a directory below them may be. */
const systemDirectories = new Set(
  [
    '/ /home /media /mnt /opt /root /run /srv /tmp /usr /usr/bin /usr/lib /usr/lib64 /usr/libexec /usr/local /usr/local/bin',
    '/usr/local/lib /usr/local/sbin /usr/sbin /usr/share /var /var/cache /var/lib /var/lib/bke /var/lib/containerd',
    '/var/lib/etcd /var/lib/kubelet /var/log /var/run /var/spool /var/tmp',
  ].flatMap((line) => line.split(' ')),
);

/** The system's with all that is below them. */
const systemTrees = /^\/(?:bin|boot|dev|etc|lib|lib64|proc|sbin|sys)(?:\/|$)/;

/** undefined where data may be put there. @param path absolute. */
export function systemDirectoryProblem(path: string): string | undefined {
  const plain = normalize(path).replace(/(?<=.)\/$/, '');
  if (systemTrees.test(plain)) return `${path} belongs to the system`;
  return systemDirectories.has(plain) ? `${path} is a directory of the system: name one below it` : undefined;
}

/** What is wrong with a directory for the data of the services: it lives on, and their user reads it. */
export function dataDirProblem(dataDir: string): string | undefined {
  if (!isAbsolute(dataDir)) return `${dataDir} is no absolute path`;
  if (normalize(dataDir) !== dataDir || (dataDir !== '/' && dataDir.endsWith('/'))) {
    return `write ${normalize(dataDir).replace(/\/+$/, '') || '/'} instead of ${dataDir}`;
  }
  const system = systemDirectoryProblem(dataDir);
  if (system !== undefined) return system;
  if (!/^[A-Za-z0-9._/-]+$/.test(dataDir)) return 'may have letters, digits, dot, dash, underline and / only';
  if (/^\/(?:run|tmp|root|home)\//.test(dataDir))
    return `${dataDir} does not outlive a boot, or the services' user cannot reach it`;
  return undefined;
}
