// The change kind `base-chains`: where iptables hangs its rules into the kernel. It makes such chains with the first rule of anybody and never takes
// them away (iptables-nft(8)); recorded is which were there, so that those that came with Kubernetes' rules can go and the user's own stay.
import { z } from 'zod';
import { plural } from '../../lib/text.ts';
import type { Host } from '../host.ts';
import { parseAnswer, programOutput } from '../state/program.ts';
import type { BaseChainsChange, ChangeKind, ChangeRecord, Observation, UndoOutcome } from './change.ts';

/** `family table chain`, e.g. `ip filter FORWARD`. */
type ChainName = string;

const chainList = z.object({ nftables: z.array(z.record(z.string(), z.unknown())) });
const baseChain = z.object({
  chain: z.object({
    family: z.string(),
    table: z.string(),
    name: z.string(),
    hook: z.string(),
    policy: z.string().optional(),
  }),
});
type BaseChain = z.infer<typeof baseChain>['chain'];

const families: readonly string[] = ['ip', 'ip6'];
const builtIn = /^(INPUT|FORWARD|OUTPUT|PREROUTING|POSTROUTING)$/;

function nameOf({ family, table, name }: BaseChain): ChainName {
  return `${family} ${table} ${name}`;
}

/** Nothing where the host has no nft: then its iptables does not work by it. */
async function readChains(host: Host): Promise<BaseChain[]> {
  const answer = parseAnswer(await programOutput(host, ['nft', '-j', 'list', 'chains']), chainList, { nftables: [] });
  return answer.nftables
    .flatMap((entry) => baseChain.safeParse(entry).data?.chain ?? [])
    .filter(({ family, name }) => families.includes(family) && builtIn.test(name));
}

async function observe(
  host: Host,
  _change: BaseChainsChange,
  _keeper: unknown,
  previous?: ChangeRecord<BaseChainsChange, readonly ChainName[]>,
): Promise<Observation<readonly ChainName[]>> {
  if (previous !== undefined) return { satisfied: true, before: previous.first, action: 'none' };
  return { satisfied: true, before: (await readChains(host)).map(nameOf), action: 'none' };
}

/** The kernel refuses to delete a chain that has a rule: that one is somebody's by now, and so is one that drops. */
async function undo(host: Host, { first }: ChangeRecord<BaseChainsChange, readonly ChainName[]>): Promise<UndoOutcome> {
  const came = (await readChains(host)).filter((chain) => !first.includes(nameOf(chain)) && chain.policy === 'accept');
  let removed = 0;
  for (const { family, table, name } of came) {
    const result = await host.run(['nft', 'delete', 'chain', family, table, name]);
    if (result.exitCode === 0) removed += 1;
  }
  for (const table of new Set(came.map(({ family, table: name }) => `${family} ${name}`)))
    if (!first.some((chain) => chain.startsWith(`${table} `))) await removeIfBare(host, table);
  return { result: removed === 0 ? 'already' : 'undone' };
}

/** Only a table with nothing in it: no chain, set or map of anybody. */
async function removeIfBare(host: Host, table: string): Promise<void> {
  const [family = '', name = ''] = table.split(' ');
  const listed = await programOutput(host, ['nft', '-j', 'list', 'table', family, name]);
  if (listed === undefined) return;
  const others = parseAnswer(listed, chainList, { nftables: [] }).nftables.filter(
    (entry) => !('metainfo' in entry) && !('table' in entry),
  );
  if (others.length === 0) await host.run(['nft', 'delete', 'table', family, name]);
}

export const baseChainsKind: ChangeKind<BaseChainsChange, readonly ChainName[]> = {
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
  planUndo: ({ first }) => ({
    action: 'remove',
    what: `empty chains that iptables made for pods and Services (${plural(first.length, 'chain')} of before stay)`,
  }),
  undo,
};
