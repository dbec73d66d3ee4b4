// Writes what a BKEHost's controller says about it, where it is something new, and tells people of turns.
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import type { EventRecorder, ObjectEvent } from '../event-recorder.ts';
import { fieldManager, identityOf } from './access.ts';
import { type ConditionType, storedConditions, turned, type Verdict, type Verdicts } from './conditions.ts';
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
  const after = await writer.client.apply(
    { ...identityOf(object), status },
    { fieldManager, force: true, subresource: 'status' },
  );
  for (const { type, verdict } of turned(object, said.verdicts)) {
    // What is still on its way is told by what it leads to.
    if (verdict.status === 'Unknown' || calm.has(verdict.reason)) continue;
    await writer.events.record({ object, ...eventOf(type, verdict) });
  }
  return after;
}

function statusField(object: KubeObject, { verdicts, facts, heartbeat }: HostStatus, now: Date): object {
  const agent = agentField(object, heartbeat);
  return {
    conditions: storedConditions(object, verdicts, now),
    ...(facts === undefined ? {} : { facts }),
    ...(agent === undefined ? {} : { agent }),
  };
}

function eventOf(type: ConditionType, { status, reason, message }: Verdict): Omit<ObjectEvent, 'object'> {
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
