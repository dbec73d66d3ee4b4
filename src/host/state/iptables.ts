// iptables as its save programs print it, for both kernel interfaces (legacy, nft) and both families, and which chains and rules Kubernetes made.
import type { Host } from '../host.ts';
import { programOutput } from './program.ts';

interface RuleChain {
  readonly name: string;
  /** ACCEPT or DROP for built-in chains, `-` for others. */
  readonly policy: string;
}

export interface Rule {
  readonly chain: string;
  /** The line as saved, without the `-A CHAIN ` in front. */
  readonly spec: string;
}

export interface RuleTable {
  readonly name: string;
  readonly chains: readonly RuleChain[];
  readonly rules: readonly Rule[];
}

type RuleBackend = 'iptables-legacy' | 'iptables-nft' | 'ip6tables-legacy' | 'ip6tables-nft' | 'iptables' | 'ip6tables';

export interface RuleSet {
  readonly backend: RuleBackend;
  readonly tables: readonly RuleTable[];
}

/** What of one table goes: rules in chains that stay, then whole chains. */
export interface OwnRules {
  readonly backend: RuleBackend;
  readonly table: string;
  readonly chains: readonly string[];
  readonly rules: readonly Rule[];
}

/** Names of pods' CNI networks on this host: their chains share a prefix with those of other container programs. */
export type PodNetworks = ReadonlySet<string>;

/** Parses the output of an iptables save program. */
export function parseRules(text: string): RuleTable[] {
  const tables: { name: string; chains: RuleChain[]; rules: Rule[] }[] = [];
  for (const line of text.split('\n')) {
    const table = tables.at(-1);
    if (line.startsWith('*')) tables.push({ name: line.slice(1), chains: [], rules: [] });
    else if (table === undefined) continue;
    else if (line.startsWith(':')) {
      const [name, policy] = line.slice(1).split(' ');
      if (name !== undefined && policy !== undefined) table.chains.push({ name, policy });
    } else {
      const match = /^(?:\[[0-9]+:[0-9]+\] )?-A (\S+) (.*)$/.exec(line);
      if (match?.[1] !== undefined && match[2] !== undefined) table.rules.push({ chain: match[1], spec: match[2] });
    }
  }
  return tables;
}

/** A rule without its quoted texts: a comment may hold anything that looks like an option. */
export function withoutTexts(spec: string): string {
  return spec.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

/** The chain a rule jumps or goes to. */
export function ruleTarget(spec: string): string | undefined {
  return /(?:^| )-[jg] (\S+)/.exec(withoutTexts(spec))?.[1];
}

function comments(spec: string): string[] {
  return [...spec.matchAll(/--comment (?:"((?:[^"\\]|\\.)*)"|(\S+))/g)].map((match) =>
    (match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1'),
  );
}

// Exact beginnings, as the programs write them: kubelet, kube-proxy and kube-router; Calico; Cilium; flannel; weave; the node-local DNS cache has no chain.
const chainPrefixes = ['KUBE-', 'cali-', 'CILIUM_', 'OLD_CILIUM_', 'FLANNEL-', 'WEAVE-'];

export function isKubernetesChain(name: string): boolean {
  return chainPrefixes.some((prefix) => name.startsWith(prefix));
}

/** Comments of rules that Kubernetes' programs put straight into chains that aren't theirs. */
const ownComments = [/^cali:[A-Za-z0-9_-]{16}$/, /^flanneld (masq|forward)$/, /^NodeLocal DNS Cache: /];

function isOwnRule(spec: string): boolean {
  return comments(spec).some((comment) => ownComments.some((pattern) => pattern.test(comment)));
}

/** Shared by all programs that use the CNI plugins: these go only when nobody else's rule is in them. */
function isSharedCniChain(name: string): boolean {
  return /^CNI-(ADMIN|FORWARD|ISOLATION-STAGE-[12]|HOSTPORT-[A-Z]+)$/.test(name);
}

/** Rules of one CNI attachment carry `name: "NETWORK" id: "CONTAINER"`; the port mapper's carry the name in `dnat name: …` too. */
function cniNetwork(spec: string): string | undefined {
  for (const comment of comments(spec)) {
    const network = /name: "([^"]+)" id: "/.exec(comment)?.[1];
    if (network !== undefined) return network;
  }
  return undefined;
}

function attachmentChains(table: RuleTable, networks: PodNetworks): Set<string> {
  const own = new Set<string>();
  for (const rule of table.rules) {
    const network = cniNetwork(rule.spec);
    if (network === undefined || !networks.has(network)) continue;
    for (const name of [rule.chain, ruleTarget(rule.spec) ?? '']) {
      if (name.startsWith('CNI-') && !isSharedCniChain(name)) own.add(name);
    }
  }
  return own;
}

// Housekeeping rules the plugins put into their shared chains without naming a network.
const cniHousekeeping = /CNI portfwd|CNI firewall plugin|CNI-HOSTPORT|--mark 0x2000|set-xmark 0x2000/;

/** Shared chains in which, when `own` is gone, only housekeeping stays; kept while anyone else's network shows up. */
function idleSharedChains(table: RuleTable, own: ReadonlySet<string>): string[] {
  const strangers = table.chains.some(
    (chain) => chain.name.startsWith('CNI-') && !isSharedCniChain(chain.name) && !own.has(chain.name),
  );
  if (strangers) return [];
  const shared = table.chains.map((chain) => chain.name).filter(isSharedCniChain);
  const busy = (name: string) =>
    table.rules.some(
      (rule) => rule.chain === name && !own.has(ruleTarget(rule.spec) ?? '') && !isHousekeeping(rule.spec),
    );
  // One network program uses them as a set: a rule of somebody else in any of them keeps all.
  return shared.some(busy) ? [] : shared;
}

function isHousekeeping(spec: string): boolean {
  return cniHousekeeping.test(spec) || isSharedCniChain(ruleTarget(spec) ?? '');
}

function ownOfTable(backend: RuleBackend, table: RuleTable, networks: PodNetworks): OwnRules | undefined {
  const own = attachmentChains(table, networks);
  for (const chain of table.chains) if (isKubernetesChain(chain.name)) own.add(chain.name);
  if (own.size > 0) for (const name of idleSharedChains(table, own)) own.add(name);
  const builtIn = new Set(table.chains.filter((chain) => chain.policy !== '-').map((chain) => chain.name));
  for (const name of builtIn) own.delete(name);
  const rules = table.rules.filter(
    (rule) => !own.has(rule.chain) && (own.has(ruleTarget(rule.spec) ?? '') || isOwnRule(rule.spec)),
  );
  if (own.size === 0 && rules.length === 0) return undefined;
  return { backend, table: table.name, chains: [...own], rules };
}

/** What of the rules is Kubernetes': per backend and table. Built-in chains, their policies and others' chains are never in it. */
export function ownRules(sets: readonly RuleSet[], networks: PodNetworks): OwnRules[] {
  return sets.flatMap((set) => set.tables.flatMap((table) => ownOfTable(set.backend, table, networks) ?? []));
}

/** Input of the restore program with --noflush: deletes exactly these rules and chains, one by one, in one step of the kernel. */
export function deletionScript(own: OwnRules): string {
  return [
    `*${own.table}`,
    ...own.rules.map((rule) => `-D ${rule.chain} ${rule.spec}`),
    ...own.chains.map((chain) => `-F ${chain}`),
    ...own.chains.map((chain) => `-X ${chain}`),
    'COMMIT',
    '',
  ].join('\n');
}

const pairs: readonly (readonly [RuleBackend, RuleBackend, RuleBackend])[] = [
  ['iptables-legacy', 'iptables-nft', 'iptables'],
  ['ip6tables-legacy', 'ip6tables-nft', 'ip6tables'],
];

async function readBackend(host: Host, backend: RuleBackend): Promise<RuleSet | undefined> {
  const text = await programOutput(host, [`${backend}-save`], { maxOutputBytes: 64 << 20 });
  return text === undefined ? undefined : { backend, tables: parseRules(text) };
}

/** All rule sets of the host. The save programs only list tables that exist: reading makes none. */
export async function readRules(host: Host): Promise<RuleSet[]> {
  const sets: RuleSet[] = [];
  for (const [legacy, nft, plain] of pairs) {
    const both = [await readBackend(host, legacy), await readBackend(host, nft)].filter((set) => set !== undefined);
    const found = both.length > 0 ? both : [await readBackend(host, plain)].filter((set) => set !== undefined);
    sets.push(...found.filter((set) => set.tables.length > 0));
  }
  return sets;
}
