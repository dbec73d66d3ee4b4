// The SSH session bke was started from: its interface and its firewall rule must outlive a reset.
import type { Host } from '../host.ts';
import { programOutput } from './program.ts';
import { lineage, type ProcessInfo } from './processes.ts';

export interface SshSession {
  readonly client: string;
  readonly server: string;
  readonly port: number;
  /** Interfaces it depends on: the one with the address `server` and the one towards `client`. */
  readonly links: readonly string[];
}

/** Parses SSH_CONNECTION: client address, client port, server address, server port. */
export function parseSshConnection(value: string): Omit<SshSession, 'links'> | undefined {
  const [client, clientPort, server, port] = value.trim().split(/\s+/);
  if (client === undefined || clientPort === undefined || server === undefined || !/^[0-9]+$/.test(port ?? ''))
    return undefined;
  return { client, server, port: Number(port) };
}

// sudo drops SSH_CONNECTION: the shell above still has it.
async function inheritedConnection(
  host: Host,
  processes: readonly ProcessInfo[],
  pid: number,
): Promise<string | undefined> {
  for (const ancestor of lineage(processes, pid)) {
    const environment = await host.files.read(`/proc/${ancestor}/environ`).catch(() => undefined);
    const value = environment
      ?.toString('utf8')
      .split('\0')
      .find((entry) => entry.startsWith('SSH_CONNECTION='));
    if (value !== undefined) return value.slice('SSH_CONNECTION='.length);
  }
  return undefined;
}

function bareAddress(address: string): string {
  return address.replace(/%.*$/, '').replace(/^::ffff:/, '');
}

async function rows<Row>(host: Host, argv: readonly [string, ...string[]]): Promise<Row[]> {
  const json = await programOutput(host, argv);
  return JSON.parse(json === undefined || json.trim() === '' ? '[]' : json) as Row[];
}

async function linksOf(host: Host, client: string, server: string): Promise<string[]> {
  const addresses = await rows<{ ifname?: string; addr_info?: { local?: string }[] }>(host, [
    'ip',
    '-j',
    'address',
    'show',
  ]);
  const routes = await rows<{ dev?: string }>(host, ['ip', '-j', 'route', 'get', bareAddress(client)]);
  const carries = addresses.filter((row) => (row.addr_info ?? []).some((info) => info.local === bareAddress(server)));
  return [...new Set([...carries.map((row) => row.ifname), ...routes.map((row) => row.dev)])].filter(
    (name) => name !== undefined,
  );
}

/** The session process `pid` belongs to; undefined where it wasn't started over SSH. */
export async function readSshSession(
  host: Host,
  processes: readonly ProcessInfo[],
  pid: number,
): Promise<SshSession | undefined> {
  const value = await inheritedConnection(host, processes, pid);
  const connection = value === undefined ? undefined : parseSshConnection(value);
  if (connection === undefined) return undefined;
  return { ...connection, links: await linksOf(host, connection.client, connection.server) };
}
