// Kernel sets of addresses and virtual servers that kube-proxy, Calico and kube-router make.
import { z } from 'zod';
import type { Host } from '../host.ts';
import { parseAnswer, programOutput } from './program.ts';

// kube-proxy: KUBE-CLUSTER-IP, KUBE-6-…; Calico: cali40…, cali60…, cali4t…; kube-router: KUBE-SRC-…, inet6:KUBE-…, kube-router-….
const setNames = [/^KUBE-/, /^inet6:KUBE-/, /^(inet6:)?kube-router-/, /^cali[46][0t]/];

export function isKubernetesSet(name: string): boolean {
  return setNames.some((pattern) => pattern.test(name));
}

/** Names of all sets; none where the host has no ipset program. */
export async function readSetNames(host: Host): Promise<string[]> {
  const text = await programOutput(host, ['ipset', 'list', '-n']);
  return (text ?? '').split('\n').filter((name) => name !== '');
}

export interface VirtualServer {
  /** How ipvsadm names its protocol: -t, -u or --sctp-service. */
  readonly option: string;
  readonly address: string;
  /** `address:port` as ipvsadm takes it, IPv6 in brackets. */
  readonly endpoint: string;
}

/** Parses `ipvsadm -S -n`: lines `-A -t 10.96.0.1:443 -s rr`. */
export function parseVirtualServers(text: string): VirtualServer[] {
  return text.split('\n').flatMap((line) => {
    const match = /^-A (-t|-u|--sctp-service) (\S+)/.exec(line);
    const [, option, endpoint] = match ?? [];
    if (option === undefined || endpoint === undefined) return [];
    const address = endpoint.slice(0, endpoint.lastIndexOf(':')).replaceAll(/^\[|\]$/g, '');
    return [{ option, address, endpoint }];
  });
}

/** All virtual servers of the kernel; none where the host has no ipvsadm. */
async function readVirtualServers(host: Host): Promise<VirtualServer[]> {
  if ((await host.files.stat('/proc/net/ip_vs')) === undefined) return [];
  return parseVirtualServers((await programOutput(host, ['ipvsadm', '-S', '-n'])) ?? '');
}

const addressRows = z.array(z.object({ addr_info: z.array(z.object({ local: z.string().optional() })).optional() }));

/** Addresses on a link: parses `ip -j address show dev NAME`. */
function parseAddresses(json: string | undefined): string[] {
  const rows = parseAnswer(json, addressRows, []);
  return rows.flatMap((row) => (row.addr_info ?? []).flatMap((info) => info.local ?? []));
}

/** Only kube-proxy's: those whose address sits on its link. Node-port servers use the host's own addresses and can't be told from others'. */
export async function readProxyServers(host: Host): Promise<VirtualServer[]> {
  const servers = await readVirtualServers(host);
  if (servers.length === 0) return [];
  const json = await programOutput(host, ['ip', '-j', 'address', 'show', 'dev', 'kube-ipvs0']);
  const addresses = new Set(parseAddresses(json));
  return servers.filter((server) => addresses.has(server.address));
}
