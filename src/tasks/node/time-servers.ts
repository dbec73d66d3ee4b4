// The time servers of the site, for the time service that the host has.
import { isUp, readUnit } from '../../host/systemd.ts';
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import type { TaskScope } from '../task.ts';

const timesyncd = 'systemd-timesyncd.service';
/** Its name on Debian, and elsewhere. */
const chronyUnits = ['chrony.service', 'chronyd.service'];
const chronyFiles = ['/etc/chrony/chrony.conf', '/etc/chrony.conf'];
const ownFile = '/etc/systemd/timesyncd.conf.d/50-bke.conf';

/** @throws BkeError BKE_TIME_SERVICE_MISSING */
export async function setTimeServers(scope: TaskScope, servers: readonly string[]): Promise<void> {
  const runs = async (name: string): Promise<boolean> => isUp(await readUnit(scope.host, name));
  for (const name of chronyUnits) if (await runs(name)) return setChrony(scope, name, servers);
  if (!(await runs(timesyncd))) {
    throw new BkeError('BKE_TIME_SERVICE_MISSING', 'ntp: neither chrony nor systemd-timesyncd runs on this host', {
      host: scope.host.name,
      hint: 'Install and start one of them, or leave ntp out.',
    });
  }
  const text = `# Written by bke.\n[Time]\nNTP=${servers.join(' ')}\n`;
  await scope.apply({ kind: 'file', path: ownFile, mode: 0o644, content: { text }, reader: timesyncd });
}

async function setChrony(scope: TaskScope, reader: string, servers: readonly string[]): Promise<void> {
  const path = await chronyFile(scope.host);
  const there = (await scope.host.files.read(path))?.toString('utf8') ?? '';
  const mode = (await scope.host.files.stat(path))?.mode ?? 0o644;
  await scope.apply({ kind: 'file', path, mode, content: { text: chronyConfig(there, servers) }, reader });
}

async function chronyFile(host: Host): Promise<string> {
  for (const path of chronyFiles) if ((await host.files.stat(path)) !== undefined) return path;
  throw new BkeError(
    'BKE_TIME_SERVICE_MISSING',
    `ntp: chrony runs, but neither ${chronyFiles.join(' nor ')} is there`,
    {
      host: host.name,
    },
  );
}

const mark = '# bke: ';

/** Its own sources are put out of use, and stay to be read; written twice it is the same. */
export function chronyConfig(text: string, servers: readonly string[]): string {
  const lines = text.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1);
  const others = lines
    .filter((line) => !line.endsWith(`${mark}time server`))
    .map((line) => (/^\s*(?:server|pool|peer|sourcedir)\s/.test(line) ? `${mark}${line}` : line));
  const own = servers.map((server) => `server ${server} iburst ${mark}time server`);
  return `${[...others, ...own].join('\n')}\n`;
}
