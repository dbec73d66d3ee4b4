// Which programs listen on TCP ports of a host: from /proc, so that it needs no other program and works where ss is missing.
import type { Host } from '../../host/host.ts';
import { programsDir } from '../node/programs.ts';
import type { Listener } from './machine.ts';

export interface ListeningSocket {
  readonly port: number;
  readonly address: string;
  readonly inode: string;
}

const LISTEN = '0A';

/** Parses /proc/net/tcp or tcp6: only sockets that listen. Addresses are told roughly: all, loopback, or in hexadecimal. */
export function parseSockets(text: string): ListeningSocket[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [, local = '', , state] = fields;
      const [address = '', port = ''] = local.split(':');
      if (state !== LISTEN || port === '') return [];
      return [{ port: Number.parseInt(port, 16), address: addressText(address), inode: fields[9] ?? '' }];
    });
}

/** The kernel writes addresses as little-endian words. */
function addressText(hex: string): string {
  if (/^0+$/.test(hex)) return '*';
  if (hex.length !== 8) return hex === '00000000000000000000000001000000' ? '[::1]' : `[${hex}]`;
  const bytes = hex.match(/../g) ?? [];
  return bytes
    .toReversed()
    .map((byte) => Number.parseInt(byte, 16))
    .join('.');
}

/** Listeners on the wanted ports, with their programs where this process may see them. */
export async function readListeners(host: Host, ports: readonly number[]): Promise<Listener[]> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readText(host, path)));
  const sockets = tables.flatMap(parseSockets).filter(({ port }) => ports.includes(port));
  if (sockets.length === 0) return [];
  const owners = await socketOwners(host, new Set(sockets.map(({ inode }) => inode)));
  return sockets.map(({ port, address, inode }) => {
    const owner = owners.get(inode);
    return {
      port,
      address,
      pid: owner?.pid,
      program: owner?.program,
      ours: owner?.executable.startsWith(`${programsDir}/`) === true,
    };
  });
}

interface Owner {
  readonly pid: number;
  readonly program: string;
  readonly executable: string;
}

/** The processes that hold sockets, by inode. */
async function socketOwners(host: Host, inodes: ReadonlySet<string>): Promise<Map<string, Owner>> {
  const owners = new Map<string, Owner>();
  for (const pid of (await host.files.list('/proc')).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await host.files.list(`/proc/${pid}/fd`).catch(() => [])) {
      const inode = /^socket:\[(\d+)\]$/.exec(await readLink(host, `/proc/${pid}/fd/${descriptor}`))?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const program = (await readText(host, `/proc/${pid}/comm`)).trim();
      owners.set(inode, { pid: Number(pid), program, executable: await readLink(host, `/proc/${pid}/exe`) });
    }
  }
  return owners;
}

/** Processes end while they are read: nothing is known of them then. */
async function readText(host: Host, path: string): Promise<string> {
  return (await host.files.read(path).catch(() => undefined))?.toString('utf8') ?? '';
}

async function readLink(host: Host, path: string): Promise<string> {
  return host.files.readLink(path).catch(() => '');
}
