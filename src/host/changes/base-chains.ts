// The change kind `base-chains`: where iptables hangs its rules into the kernel. It makes such chains with the first rule of anybody and never takes
// them away (iptables-nft(8)); recorded is which were there, so that those that came with Kubernetes' rules can go and the user's own stay.
import type { Host } from '../host.ts';
import { type BaseChain, idleChains, readBaseChains, readNftTables } from '../state/nftables.ts';
import { programOutput } from '../state/program.ts';
import type { BaseChainsChange, ChangeKind, ChangeRecord, Observation, UndoOutcome } from './change.ts';

/** `family table`, or `family table chain`, e.g. `ip filter FORWARD`. */
type Name = string;

const families: readonly string[] = ['ip', 'ip6'];
const tables = /^(filter|nat|mangle|raw|security)$/;
const builtIn = /^(INPUT|FORWARD|OUTPUT|PREROUTING|POSTROUTING)$/;

async function ofTables(host: Host): Promise<Name[]> {
  const found = await readNftTables(host);
  return found
    .filter(({ family, name }) => families.includes(family) && tables.test(name))
    .map(({ family, name }) => `${family} ${name}`);
}

/** Nothing where the host has no nft: then its iptables does not work by it. */
async function builtInChains(host: Host): Promise<BaseChain[]> {
  const found = await readBaseChains(host);
  return found.filter(
    ({ family, table, name }) => families.includes(family) && tables.test(table) && builtIn.test(name),
  );
}

function nameOf({ family, table, name }: BaseChain): Name {
  return `${family} ${table} ${name}`;
}

async function observe(
  host: Host,
  _change: BaseChainsChange,
  _keeper: unknown,
  previous?: ChangeRecord<BaseChainsChange, readonly Name[]>,
): Promise<Observation<readonly Name[]>> {
  if (previous !== undefined) return { satisfied: true, before: previous.first, action: 'none' };
  const before = [...(await ofTables(host)), ...(await builtInChains(host)).map(nameOf)];
  return { satisfied: true, before, action: 'none' };
}

/** The kernel refuses to delete a chain that has a rule: that one is somebody's by now, and so is one that drops. */
async function undo(host: Host, { first }: ChangeRecord<BaseChainsChange, readonly Name[]>): Promise<UndoOutcome> {
  let removed = 0;
  for (const chain of await builtInChains(host)) {
    if (first.includes(nameOf(chain)) || chain.policy !== 'accept') continue;
    if (await remove(host, 'chain', nameOf(chain))) removed += 1;
  }
  for (const table of await ofTables(host)) {
    if (first.includes(table) || !(await isBare(host, table))) continue;
    if (await remove(host, 'table', table)) removed += 1;
  }
  return { result: removed === 0 ? 'already' : 'undone' };
}

async function remove(host: Host, what: 'chain' | 'table', name: Name): Promise<boolean> {
  return (await host.run(['nft', 'delete', what, ...name.split(' ')])).exitCode === 0;
}

/** No chain, set or map of anybody is in it. */
async function isBare(host: Host, table: Name): Promise<boolean> {
  const json = await programOutput(host, ['nft', '-j', 'list', 'table', ...table.split(' ')]);
  return json !== undefined && idleChains(json)?.length === 0;
}

export const baseChainsKind: ChangeKind<BaseChainsChange, readonly Name[]> = {
  kind: 'base-chains',
  key: () => 'base-chains',
  describe: () => 'chains that iptables makes for rules of pods and Services',
  record: (change) => change,
  path: () => undefined,
  observe,
  outdated: (_change, previous) => previous === undefined,
  async apply() {
    // Recording what was there is all there is to do.
  },
  planUndo: () => ({ action: 'remove', what: 'empty chains and tables that iptables made for pods and Services' }),
  undo,
};
