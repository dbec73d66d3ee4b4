// The SSH session bke was started from: its interface and its firewall rule must outlive a reset.
import { z } from 'zod';
import type { Host } from '../host.ts';
import { parseAnswer, programOutput } from './program.ts';
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

const addressRows = z.array(
  z.object({
    ifname: z.string().optional(),
    addr_info: z.array(z.object({ local: z.string().optional() })).optional(),
  }),
);
const routeRows = z.array(z.object({ dev: z.string().optional() }));

async function linksOf(host: Host, client: string, server: string): Promise<string[]> {
  const addresses = parseAnswer(await programOutput(host, ['ip', '-j', 'address', 'show']), addressRows, []);
  const way = await programOutput(host, ['ip', '-j', 'route', 'get', bareAddress(client)]);
  const carries = addresses.filter((row) => (row.addr_info ?? []).some((info) => info.local === bareAddress(server)));
  const names = [...carries.map((row) => row.ifname), ...parseAnswer(way, routeRows, []).map((row) => row.dev)];
  return [...new Set(names)].filter((name) => name !== undefined);
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
