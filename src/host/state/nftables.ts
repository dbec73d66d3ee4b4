// nftables tables that Kubernetes' programs own as a whole, and empty iptables tables they leave in the nft interface.
import type { Host } from '../host.ts';
import { programOutput } from './program.ts';

export interface NftTable {
  readonly family: string;
  readonly name: string;
}

// family -> names, as kube-proxy (nftables mode), flannel, Calico and Cilium create them.
const knownTables: Readonly<Record<string, readonly string[]>> = {
  ip: ['kube-proxy', 'flannel-ipv4', 'calico', 'cilium'],
  ip6: ['kube-proxy', 'flannel-ipv6', 'calico', 'cilium'],
  inet: ['kube-proxy', 'calico', 'cilium', 'kindnet-network-policies'],
};

/** Parses `nft -j list tables`. */
export function parseNftTables(json: string): NftTable[] {
  const value = JSON.parse(json) as { nftables?: { table?: { family?: string; name?: string } }[] };
  return (value.nftables ?? []).flatMap(({ table }) =>
    table?.family === undefined || table.name === undefined ? [] : [{ family: table.family, name: table.name }],
  );
}

export function isKubernetesTable(table: NftTable): boolean {
  return knownTables[table.family]?.includes(table.name) ?? false;
}

export async function readNftTables(host: Host): Promise<NftTable[]> {
  const json = await programOutput(host, ['nft', '-j', 'list', 'tables']);
  return json === undefined ? [] : parseNftTables(json);
}

interface NftChain {
  readonly name: string;
  readonly policy: string | undefined;
}

/**
 * Parses `nft -j list table FAMILY NAME`: the chains of a table that does nothing at all (only accepting hooks, no rules,
 * sets or chains of its own), as iptables leaves it when its last rule is gone. undefined where it does anything.
 */
export function idleChains(json: string): string[] | undefined {
  const value = JSON.parse(json) as { nftables?: Record<string, unknown>[] };
  const chains: NftChain[] = [];
  for (const entry of value.nftables ?? []) {
    const [kind] = Object.keys(entry);
    if (kind === 'metainfo' || kind === 'table') continue;
    const chain = kind === 'chain' ? (entry['chain'] as { name?: string; policy?: string; hook?: string }) : undefined;
    if (chain?.name === undefined || chain.hook === undefined) return undefined;
    chains.push({ name: chain.name, policy: chain.policy });
  }
  return chains.every((chain) => chain.policy === 'accept') ? chains.map((chain) => chain.name) : undefined;
}
