// Files of one host: an overlay over the base, plain directories where an overlay won't do, and the host's identity.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { mountsBelow, removeTree, unmountBelow } from '../files.ts';
import { run } from '../run.ts';
import { baseRoot } from './base.ts';
import { type Bed, hostFolder } from './bed.ts';
import { authorizeOwnKey, makeHostKeys } from './keys.ts';
import type { HostRecord } from './record.ts';

/** Where the host's root is mounted on this machine. */
export function hostRoot(bed: Bed, name: string): string {
  return path.join(hostFolder(bed, name), 'root');
}

/** Makes a host's files anew: whatever an earlier host of that name left is gone. */
export async function makeFiles(bed: Bed, host: HostRecord): Promise<void> {
  const folder = hostFolder(bed, host.name);
  await removeTree(folder);
  for (const name of ['upper', 'work', 'root']) await mkdir(path.join(folder, name), { recursive: true, mode: 0o755 });
  await mountFiles(bed, host);
  await writeIdentity(bed, host);
}

/** Mounts the host's layers where they aren't (again after a reboot of this machine). */
export async function mountFiles(bed: Bed, host: HostRecord): Promise<void> {
  const folder = hostFolder(bed, host.name);
  const root = hostRoot(bed, host.name);
  if ((await mountsBelow(root)).length > 0) return;
  const layers = `lowerdir=${await baseRoot()},upperdir=${folder}/upper,workdir=${folder}/work`;
  await run(['mount', '-t', 'overlay', `overlay-${host.name}`, '-o', layers, root]);
  for (const directory of host.options.plainDirectories) {
    const plain = path.join(folder, 'plain', directory);
    await mkdir(plain, { recursive: true, mode: 0o755 });
    await mkdir(path.join(root, directory), { recursive: true, mode: 0o755 });
    await run(['mount', '--bind', plain, path.join(root, directory)]);
  }
}

/** Removes the host's files and mounts. */
export async function removeFiles(bed: Bed, name: string): Promise<void> {
  await unmountBelow(hostFolder(bed, name));
  await removeTree(hostFolder(bed, name));
}

async function writeIdentity(bed: Bed, host: HostRecord): Promise<void> {
  const etc = path.join(hostRoot(bed, host.name), 'etc');
  const write = (name: string, text: string) => writeFile(path.join(etc, name), text, { mode: 0o644 });
  await write('machine-id', `${randomUUID().replaceAll('-', '')}\n`);
  await write('hostname', `${host.name}\n`);
  await write('hosts', `127.0.0.1 localhost\n::1 localhost ip6-localhost\n${host.address} ${host.name}\n`);
  // Nothing answers there, as on a site whose name server is down; the options keep what waits for it short.
  await write('resolv.conf', `nameserver ${bed.gateway}\noptions timeout:1 attempts:1\n`);
  await write('systemd/network/10-host0.network', networkSettings(bed, host));
  await makeHostKeys(path.join(etc, 'ssh'), host.name);
  await authorizeOwnKey(bed, path.join(etc, '..', 'root'));
}

function networkSettings(bed: Bed, host: HostRecord): string {
  const gateway = host.options.defaultRoute ? [`Gateway=${bed.gateway}`] : [];
  return [
    '[Match]',
    'Name=host0',
    '[Network]',
    `Address=${host.address}/24`,
    ...gateway,
    'LinkLocalAddressing=ipv6',
    'IPv6AcceptRA=no',
    'LLMNR=no',
    'MulticastDNS=no',
    '',
  ].join('\n');
}
