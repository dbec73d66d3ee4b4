// Writes what a BKEHost's controller says about it, where it is something new, and tells people of turns.
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { named } from '../../lib/text.ts';
import { storedConditions, type Turn, turned } from '../conditions.ts';
import type { ObjectEvent } from '../event-recorder.ts';
import { putStatus, type StatusWriter } from '../object-status.ts';
import { fieldManager } from './access.ts';
import { type ConditionType, conditionTypes, type Verdicts } from './conditions.ts';
import type { Heartbeat } from './heartbeats.ts';

export interface HostStatus {
  readonly verdicts: Verdicts;
  readonly facts: object | undefined;
  readonly heartbeat: Heartbeat;
}

/** @returns the object as it is then */
export async function writeStatus(writer: StatusWriter, object: KubeObject, said: HostStatus): Promise<KubeObject> {
  const status = statusField(object, said, writer.now());
  const after = await putStatus(writer.client, object, { status, fieldManager });
  // Gone meanwhile: nobody is left to be told anything.
  if (after === undefined || after === object) return object;
  for (const turn of turned(object, conditionTypes, said.verdicts)) {
    if (isNews(object, turn)) await writer.events.record({ object, ...eventOf(turn) });
  }
  return after;
}

/** What went wrong, what is well again, and that it is available: what is on its way is told by what it leads to. */
function isNews(object: KubeObject, { type, verdict: { status, reason } }: Turn<ConditionType>): boolean {
  if (status === 'Unknown' || calm.has(reason)) return false;
  const before = conditionOf(object, type);
  const wasWrong = before?.status === 'False' && !calm.has(before.reason);
  return status === 'False' || type === 'Available' || wasWrong;
}

function statusField(object: KubeObject, { verdicts, facts, heartbeat }: HostStatus, now: Date): object {
  const agent = agentField(object, heartbeat);
  return {
    conditions: storedConditions(object, conditionTypes, { said: verdicts, now }),
    ...(facts === undefined ? {} : { facts }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function eventOf({ type, verdict: { status, reason, message } }: Turn<ConditionType>): Omit<ObjectEvent, 'object'> {
  const words = named(type, message === '' ? reason : message).slice(0, longestEvent);
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
