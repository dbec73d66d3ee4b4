// Nodes of a cluster that were there and are no more: whatever the cluster waits for, it waits for them first.
import type { Trouble, Waiting } from './chain.ts';
import { causeWords, conditionsOf } from './causes.ts';
import { type Around, causeOf, describeCommand, isNode } from './host-steps.ts';
import { silence, sinceWords } from './host-errors.ts';
import { named } from '../../lib/text.ts';
import type { NodeView } from './world.ts';

/** What a wait of the whole cluster looks like where a host of it has failed after it became a node; as it was where none has. */
export function withLostNodes(look: Waiting, around: Around): Waiting {
  if (look.trouble !== undefined) return look;
  const lost = around.world.nodes.filter(isNode).flatMap((node) => lostTrouble(node, around) ?? []);
  const [first] = lost;
  if (first === undefined) return look;
  const more = lost.length === 1 ? '' : ` (and ${lost.length - 1} more)`;
  return {
    ...look,
    cause: `${named(first.error.host ?? '', causeOf(first))}${more}`,
    trouble: first,
    next: describeCommand(around),
  };
}

function lostTrouble({ name, host }: NodeView, { asking }: Around): Trouble | undefined {
  const trouble = silence(host, asking);
  return trouble === undefined ? undefined : { ...trouble, error: { ...trouble.error, host: name } };
}

/** What the cluster says of a node that is not ready, since when; undefined: nothing yet. */
export function unreadyWords({ name, machine }: NodeView): string | undefined {
  const told = ['NodeReady', 'NodeHealthy'].flatMap(
    (type) => conditionsOf(machine).find((one) => one.type === type && one.status !== 'True') ?? [],
  );
  const [first] = told.filter(({ reason, message }) => reason !== '' || message !== '');
  if (first === undefined) return undefined;
  return `${name} is not ready${sinceWords(machine, first.type)}: ${causeWords(first)}`;
}

/** Kubernetes says of a node that its state is not known when its kubelet tells nothing any more. */
export function isKubeletSilent({ machine }: NodeView): boolean {
  return conditionsOf(machine).some(({ type, status }) => type === 'NodeReady' && status === 'Unknown');
}

export function kubeletLog(host: string): string {
  return `bke host exec -f FILE --host ${host} -- journalctl -n 20 -u kubelet`;
}
