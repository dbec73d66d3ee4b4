// Brings an order to a host: one command at a time, the next one only when every step of the last is over.
import type { KubeClient, KubeObject, ObjectKey } from '../../kube/client.ts';
import { fieldAt, keyOf, numberAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { agentObjects } from '../../api/agent-config.ts';
import { annotations, askedBy, commandKind, hostKey, type HostName } from '../bkehost/host.ts';
import { newCommandID, type Order } from './command-id.ts';
import { type Progress, progressOf } from './progress.ts';
import type { Retries } from './retries.ts';

const fieldManager = 'bke-controller-commands';

type CommandClient = Pick<KubeClient, 'get' | 'patch'>;

export interface Giving {
  readonly client: CommandClient;
  readonly host: HostName;
  readonly leaseGeneration: number;
  readonly retries: Retries;
  /** Name of the BKEOperation that it is part of. */
  readonly operation?: string | undefined;
}

/** How an order is, and after how many ms to look again where nothing will tell. */
export interface Given {
  readonly progress: Progress;
  readonly waitMs?: number;
}

/**
 * Gives the order where it was not given yet, and again where it failed: after a pause that grows, or at once where somebody has asked anew since.
 * @param mayGive asked after the command was read and before it is written: what it says can't have changed in between without a conflict
 * @throws BkeError as KubeClient does
 */
export async function fulfil(giving: Giving, order: Order, mayGive?: () => Promise<boolean>): Promise<Given> {
  const command = await giving.client.get(commandKeyOf(giving.host));
  // The controller of hosts makes it.
  if (command === undefined) return { progress: { state: 'busy', commandID: '' }, waitMs: 2000 };
  const progress = progressOf(command, order);
  if (progress.state !== 'absent' && progress.state !== 'failed') return { progress };
  const host = await giving.client.get(hostKey(giving.host));
  const asked = host && askedBy(host);
  const isNew = asked !== undefined && asked !== askedBy(command);
  const { attempt, waitMs } = nextAttempt(progress, isNew, giving.retries);
  if (waitMs !== undefined) return { progress, waitMs };
  if (mayGive !== undefined && !(await mayGive())) return { progress };
  const given = await give(giving, command, { order, attempt, asked });
  return given ? { progress: begun(progress, order) } : { progress, waitMs: 500 };
}

/** A failure is told until the new attempt tells something: nobody should think it was mended. */
function begun(before: Fresh, { steps }: Order): Progress {
  return before.state === 'failed' ? before : { state: 'running', step: steps[0]?.id ?? '', message: notTaken };
}

const notTaken = 'the agent has not taken it yet';

type Fresh = Extract<Progress, { state: 'absent' | 'failed' }>;

interface Next {
  readonly attempt: number;
  /** undefined: now. */
  readonly waitMs?: number;
}

function nextAttempt(progress: Fresh, isNew: boolean, retries: Retries): Next {
  if (progress.state === 'absent') return { attempt: 1 };
  const waitMs = isNew ? 0 : retries.waitMs(progress);
  return { attempt: progress.attempt + 1, ...(waitMs > 0 ? { waitMs } : {}) };
}

/** @returns false where somebody else wrote at the same time: to be looked at again */
async function give(
  { client, leaseGeneration, operation }: Giving,
  command: KubeObject,
  { order, attempt, asked }: { readonly order: Order; readonly attempt: number; readonly asked: string | undefined },
): Promise<boolean> {
  const seen = numberAt(command, 'spec', 'leaseGeneration') ?? 0;
  if (seen > leaseGeneration) {
    throw new BkeError(
      'BKE_KUBE_CONFLICT',
      `a later leader has written to ${command.metadata.name}: generation ${seen}`,
    );
  }
  const commandID = newCommandID(order, attempt);
  const operationRef = operation === undefined ? null : { name: operation };
  const spec = { commandID, leaseGeneration, cancelRequested: null, operationRef, steps: order.steps };
  return patched(client, command, { metadata: { annotations: { [annotations.asked]: asked ?? null } }, spec });
}

/** Asks the agent to end what it does. @returns whether nothing runs (any more) */
export async function stopCommand(
  client: CommandClient,
  host: HostName,
  isOver: (command: KubeObject) => boolean,
): Promise<boolean> {
  const command = await client.get(commandKeyOf(host));
  if (command === undefined || isOver(command)) return true;
  if (fieldAt(command, 'spec', 'cancelRequested') !== true)
    await patched(client, command, { spec: { cancelRequested: true } });
  return false;
}

interface Change {
  readonly metadata?: object;
  readonly spec: object;
}

async function patched(client: CommandClient, command: KubeObject, { metadata, spec }: Change): Promise<boolean> {
  const { resourceVersion } = command.metadata;
  const change = { metadata: { ...metadata, resourceVersion }, spec };
  try {
    await client.patch(keyOf(command), change, { type: 'merge', fieldManager });
    return true;
  } catch (thrown) {
    if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_CONFLICT') return false;
    throw thrown;
  }
}

export function commandKeyOf({ namespace, name }: HostName): ObjectKey {
  return { ...commandKind, namespace, name: agentObjects(name).hostCommand };
}
