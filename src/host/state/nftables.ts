// nftables tables that Kubernetes' programs own as a whole, and empty iptables tables they leave in the nft interface.
import { z } from 'zod';
import type { Host } from '../host.ts';
import { parseAnswer, programOutput } from './program.ts';

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

const ruleset = z.object({ nftables: z.array(z.record(z.string(), z.unknown())) });
const tableEntry = z.object({ table: z.object({ family: z.string(), name: z.string() }) });

/** Parses `nft -j list tables`. */
export function parseNftTables(json: string | undefined): NftTable[] {
  return parseAnswer(json, ruleset, { nftables: [] }).nftables.flatMap((entry) => {
    const { data } = tableEntry.safeParse(entry);
    return data === undefined ? [] : [data.table];
  });
}

export function isKubernetesTable(table: NftTable): boolean {
  return knownTables[table.family]?.includes(table.name) ?? false;
}

export async function readNftTables(host: Host): Promise<NftTable[]> {
  return parseNftTables(await programOutput(host, ['nft', '-j', 'list', 'tables']));
}

/** A base chain as nft lists it: one with a hook. */
const hooked = z.object({ name: z.string(), hook: z.string(), policy: z.string().optional() });
const baseChain = z.object({ chain: hooked });
const placedChain = z.object({ chain: hooked.extend({ family: z.string(), table: z.string() }) });
export type BaseChain = z.infer<typeof placedChain>['chain'];

/** Of all tables. Nothing where the host has no nft. */
export async function readBaseChains(host: Host): Promise<BaseChain[]> {
  const json = await programOutput(host, ['nft', '-j', 'list', 'chains']);
  return parseAnswer(json, ruleset, { nftables: [] }).nftables.flatMap(
    (entry) => placedChain.safeParse(entry).data?.chain ?? [],
  );
}

/**
 * Parses `nft -j list table FAMILY NAME`: the chains of a table that does nothing at all (only accepting hooks, no rules,
 * sets or chains of its own), as iptables leaves it when its last rule is gone. undefined where it does anything.
 */
export function idleChains(json: string): string[] | undefined {
  const chains: string[] = [];
  for (const entry of parseAnswer(json, ruleset, { nftables: [] }).nftables) {
    if ('metainfo' in entry || 'table' in entry) continue;
    const { data } = baseChain.safeParse(entry);
    if (data === undefined || data.chain.policy !== 'accept') return undefined;
    chains.push(data.chain.name);
  }
  return chains;
}
