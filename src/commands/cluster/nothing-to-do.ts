// Whether a cluster is so well that a create has nothing to do: by the rules of the operation that it would open, and by controllers that are at work.
import { createChains, createFrame } from '../../controllers/bkeoperation/create.ts';
import { type ClusterName, type World, worldOf } from '../../controllers/bkeoperation/world.ts';
import type { KubeClient } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { timeText } from '../../lib/time-text.ts';
import { newOperationId } from '../../operations/journal.ts';
import type { CommandContext } from '../context.ts';
import { AtWork, type AtWorkOptions } from '../operation/at-work.ts';
import { isComplete } from './existing.ts';
import { everyKind, listAll } from './read-world.ts';

/** A controller renews its lease every two seconds. Who has nothing to do is not to wait for long. */
const patience: AtWorkOptions = { mostMs: 60_000, everyMs: 1000 };

type Around = Pick<CommandContext, 'note' | 'now' | 'signal'>;

/** All that is there of the cluster, now. */
export async function worldNow(client: Pick<KubeClient, 'list'>, { namespace, name }: ClusterName): Promise<World> {
  return worldOf({ namespace, name }, await listAll(client, namespace, everyKind));
}

/** @throws BkeError BKE_TIMEOUT where no controller is at work: what was said last may be hours old then */
export async function isWell(
  context: Around,
  client: Pick<KubeClient, 'get' | 'list'>,
  cluster: ClusterName,
  options = patience,
): Promise<boolean> {
  if (!looksWell(await worldNow(client, cluster), context.now())) return false;
  await seeController(context, client, options);
  return looksWell(await worldNow(client, cluster), context.now());
}

/** Where an operation would be done at once. */
function looksWell(world: World, now: Date): boolean {
  const chains = createChains(world, {}, { name: '', since: timeText(now) });
  return isComplete(world) && chains.every(({ steps }) => steps.every(({ look }) => look.state === 'done'));
}

/** An account of one namespace may not see the lease: that is no reason to tell it nothing. */
async function seeController(
  context: Around,
  client: Pick<KubeClient, 'get' | 'list'>,
  options: AtWorkOptions,
): Promise<void> {
  try {
    await new AtWork(context, client, options).seen('run the same command again');
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_KUBE_FORBIDDEN') throw thrown;
    context.note(`warning: whether a controller of bke is at work could not be seen: ${thrown.message}`);
  }
}

/** To programs as the end of an operation, which is its only event: nothing was begun, and no journal keeps it. */
export function tellNothingToDo(
  context: Pick<CommandContext, 'note' | 'events' | 'now'>,
  { namespace, name }: ClusterName,
  hosts: readonly string[],
): void {
  const now = context.now();
  context.note(`Nothing to do: cluster ${name} is as the file says, and healthy.`);
  context.events({
    seq: 1,
    time: now.toISOString(),
    operation: newOperationId('cluster.create', now),
    type: 'operation.finished',
    outcome: 'done',
    changed: false,
    hosts: hosts.map((host) => ({ host, state: 'done', changed: false })),
    next: createFrame({ namespace, name }).next('done'),
    durationMs: 0,
  });
}
