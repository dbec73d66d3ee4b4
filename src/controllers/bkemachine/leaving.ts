// A BKEMachine that is deleted: its host is cleaned by the agent first, and free only when the Machine is gone, whose node has the host's name.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { timeText } from '../../lib/time-text.ts';
import { isDenied, isForbidden } from '../bkehost/access.ts';
import { type HostName, type HostView, viewOf } from '../bkehost/host.ts';
import { no, type Verdict, yes } from '../conditions.ts';
import { resetOrder } from '../host-command/bootstrap.ts';
import { readCommandID } from '../host-command/command-id.ts';
import { fulfil, type Giving, stopCommand } from '../host-command/give.ts';
import { isOver } from '../host-command/progress.ts';
import { markClean, markUnclean, releaseHost } from './claim.ts';
import { progressVerdict } from './conditions.ts';
import { emptyInbox } from './inbox.ts';
import { hostAnnotations, machineAnnotations } from './marks.ts';

export interface Cleaning {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly giving: Giving;
  readonly now: () => Date;
  /** A person said that the host is not coming back. */
  readonly forced: boolean;
}

export interface Cleaned {
  /** Nothing of the machine is on the host any more, or nobody waits for that. */
  readonly done: boolean;
  readonly verdict: Verdict;
  readonly waitMs?: number | undefined;
}

/** @param object the claimed host as it is now */
export async function cleanHost(object: KubeObject, given: Cleaning): Promise<Cleaned> {
  const host = viewOf(object);
  const { forced } = given;
  if (isCleaned(object)) return { done: true, verdict: yes('Cleaned', host.name) };
  if (forced) return quarantine(host, given);
  try {
    return await askAgent(object, host, given);
  } catch (thrown) {
    if (!isDenied(thrown)) throw thrown;
    // Nothing would tell, and tomorrow it would be the same.
    const why = `${host.name}: ${thrown.code}: ${thrown.message}. Where its namespace is being deleted, the rights of bke there and the account of the agent went first.`;
    return { done: false, verdict: no('CleanUpFailed', `${why}${wayOut}`), waitMs: forbiddenMs };
  }
}

const forbiddenMs = 10_000;

async function askAgent(object: KubeObject, host: HostView, given: Cleaning): Promise<Cleaned> {
  const { client } = given;
  const { claimID = '' } = host.spec;
  const marked = host.spec.cleanUpPending === true ? object : await markUnclean(client, object);
  if (marked === undefined) return changedMeanwhile(host);
  await emptyInbox(client, host);
  const order = resetOrder(claimID);
  const before = await fulfil(given.giving, order);
  if (before.progress.state === 'busy') await stopCommand(client, host, isOver);
  if (before.progress.state === 'done') {
    if (!(await markClean(client, marked, claimID))) return changedMeanwhile(host);
    return { done: true, verdict: yes('Cleaned', host.name) };
  }
  const { status, reason, message } = progressVerdict(before.progress, host.name, words);
  const more = silentAgent(host.object, wayOut);
  return { done: false, verdict: { status, reason, message: message + more }, waitMs: before.waitMs };
}

/** Looked at again soon, and decided anew. */
function changedMeanwhile({ name }: HostView): Cleaned {
  return {
    done: false,
    verdict: no('CleaningUp', `${name} was changed by somebody else: looked at again`),
    waitMs: 500,
  };
}

const words = { running: 'CleaningUp', failed: 'CleanUpFailed', done: 'Cleaned' } as const;

/** The agent has confirmed it for the very claim that the host has. */
export function isCleaned(host: KubeObject): boolean {
  const claimID = textAt(host, 'spec', 'claimID');
  const cleaned = host.metadata.annotations?.[hostAnnotations.cleaned];
  return claimID !== undefined && cleaned === claimID && fieldAt(host, 'spec', 'cleanUpPending') !== true;
}

/** What a silent agent means for a deletion, and the one way out; '' where it answers. */
export function silentAgent(host: KubeObject, way: string): string {
  const agent = conditionOf(host, 'AgentReady');
  if (agent?.status !== 'False') return '';
  return `\nIts agent does not answer (${agent.reason}).${way}`;
}

const wayOut = ` Only where the host is gone for good: annotate the BKEMachine with ${machineAnnotations.forceRelease}=true; the host goes into quarantine.`;

async function quarantine(host: HostView, { client, now }: Cleaning): Promise<Cleaned> {
  await standDown(client, host);
  const reason = `released by ${machineAnnotations.forceRelease} without being cleaned: what the cluster left is still there`;
  const released = await releaseHost(client, host.object, { reason, since: timeText(now()) });
  const verdict = no('Quarantined', `${host.name}: ${reason}`);
  return released ? { done: true, verdict } : { done: false, verdict, waitMs: 500 };
}

/** A host that comes back must not go on with what it was to be, nor find keys of a cluster that has let it go. A clean-up may go on. */
export async function standDown(client: Cleaning['client'], host: HostName): Promise<void> {
  try {
    await emptyInbox(client, host);
    await stopCommand(client, host, (command) => isOver(command) || isCleanUp(command));
  } catch (thrown) {
    // With the right to it the account of the agent went, too.
    if (!isForbidden(thrown)) throw thrown;
  }
}

function isCleanUp(command: KubeObject): boolean {
  return readCommandID(textAt(command, 'spec', 'commandID') ?? '')?.purpose === 'reset';
}
