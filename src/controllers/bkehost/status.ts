// Writes what a BKEHost's controller says about it, where it is something new, and tells people of turns.
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { kubeStatus } from '../../kube/status-error.ts';
import type { EventRecorder, ObjectEvent } from '../event-recorder.ts';
import { fieldManager, identityOf } from './access.ts';
import { storedConditions, type Turn, turned, type Verdicts } from './conditions.ts';
import type { Heartbeat } from './heartbeats.ts';

export interface HostStatus {
  readonly verdicts: Verdicts;
  readonly facts: object | undefined;
  readonly heartbeat: Heartbeat;
}

export interface StatusWriter {
  readonly client: Pick<KubeClient, 'apply'>;
  readonly events: EventRecorder;
  readonly now: () => Date;
}

/** @returns the object as it is then */
export async function writeStatus(writer: StatusWriter, object: KubeObject, said: HostStatus): Promise<KubeObject> {
  const status = statusField(object, said, writer.now());
  const before = object['status'] ?? {};
  const same = Object.entries(status).every(([field, value]) => isDeepStrictEqual(fieldAt(before, field), value));
  if (same) return object;
  const after = await applyStatus(writer.client, object, status);
  // Gone meanwhile: nobody is left to be told anything.
  if (after === undefined) return object;
  for (const turn of turned(object, said.verdicts)) {
    if (isNews(object, turn)) await writer.events.record({ object, ...eventOf(turn) });
  }
  return after;
}

async function applyStatus(
  client: StatusWriter['client'],
  object: KubeObject,
  status: object,
): Promise<KubeObject | undefined> {
  try {
    return await client.apply({ ...identityOf(object), status }, { fieldManager, force: true, subresource: 'status' });
  } catch (thrown) {
    if (kubeStatus(thrown)?.status === 404) return undefined;
    throw thrown;
  }
}

/** What went wrong, what is well again, and that it is available: what is on its way is told by what it leads to. */
function isNews(object: KubeObject, { type, verdict: { status, reason } }: Turn): boolean {
  if (status === 'Unknown' || calm.has(reason)) return false;
  const before = conditionOf(object, type);
  const wasWrong = before?.status === 'False' && !calm.has(before.reason);
  return status === 'False' || type === 'Available' || wasWrong;
}

function statusField(object: KubeObject, { verdicts, facts, heartbeat }: HostStatus, now: Date): object {
  const agent = agentField(object, heartbeat);
  return {
    conditions: storedConditions(object, verdicts, now),
    ...(facts === undefined ? {} : { facts }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function eventOf({ type, verdict: { status, reason, message } }: Turn): Omit<ObjectEvent, 'object'> {
  const words = `${type}: ${message === '' ? reason : message}`.slice(0, longestEvent);
  return { type: status === 'True' ? 'Normal' : 'Warning', reason, message: words };
}

/** Nobody has to do anything about them. */
const calm: ReadonlySet<string> = new Set([
  'Enrolling',
  'NotEnrolled',
  'Claimed',
  'Deleting',
  'Maintenance',
  'CarriesServices',
]);
const longestEvent = 1000;

/** The time goes along when something else is written: a write for each heartbeat would say nothing new. */
function agentField(object: KubeObject, { version, lastSeen }: Heartbeat): object | undefined {
  if (lastSeen === undefined) return undefined;
  const before = fieldAt(object, 'status', 'agent');
  const same = textAt(before, 'version') === version && !isOld(textAt(before, 'lastSeen'), lastSeen);
  return same && typeof before === 'object' && before !== null ? before : { version: version ?? 'unknown', lastSeen };
}

const keptMs = 300_000;

function isOld(told: string | undefined, lastSeen: string): boolean {
  return told === undefined || Math.abs(Date.parse(lastSeen) - Date.parse(told)) > keptMs;
}
