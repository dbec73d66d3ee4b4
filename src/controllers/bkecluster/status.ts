// Writes what a BKECluster's controller says about it, where it is something new, and tells people of turns.
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';
import { storedConditions, type Verdict } from '../conditions.ts';
import type { ObjectEvent } from '../event-recorder.ts';
import { putStatus, type StatusWriter } from '../object-status.ts';
import { fieldManager } from './marks.ts';
import { type Ended, type Stage, stageNews, stagesOf } from './stages.ts';
import { type State, storedState, type StoredState, type Trouble } from './state.ts';

export const conditionTypes = ['EndpointKnown', 'FirstHostPrepared', 'Ready', 'Healthy'] as const;
export type Verdicts = Readonly<Record<(typeof conditionTypes)[number], Verdict>>;

export interface ClusterStatus {
  readonly verdicts: Verdicts;
  readonly provisioned: boolean;
  readonly state: State;
  readonly ended: Ended;
  /** Hosts that do not do what they should. */
  readonly failed: readonly Trouble[];
}

export async function writeClusterStatus(
  { client, events, now }: StatusWriter,
  object: KubeObject,
  { verdicts, provisioned, state, ended, failed }: ClusterStatus,
): Promise<void> {
  const before = storedOf(fieldAt(object, 'status', 'state'));
  const said = storedState({ state: before, history: historyOf(object) }, state, now());
  const stages = stagesOf(stagesIn(object), ended, now());
  const status = {
    initialization: provisioned ? { provisioned: true } : undefined,
    conditions: storedConditions(object, conditionTypes, { said: verdicts, now: now() }),
    state: said.state,
    history: said.history.length === 0 ? undefined : said.history,
    stages,
  };
  const after = await putStatus(client, object, { status, fieldManager });
  // Gone meanwhile, or nothing new: nobody is to be told anything.
  if (after === undefined || after === object) return;
  for (const message of stageNews(stagesIn(object), stages)) {
    await events.record({ object, type: 'Normal', reason: 'Stage', message });
  }
  // Each is told once: the recorder knows what it has written.
  for (const { message } of failed.slice(0, mostFailed)) {
    await events.record({ object, type: 'Warning', reason: 'HostFailed', message: message.slice(0, longestEvent) });
  }
  if (before?.name !== state.name || before.reason !== state.reason) await events.record({ object, ...eventOf(state) });
}

const longestEvent = 1000;
const mostFailed = 50;

function eventOf({ name, reason, message }: State): Omit<ObjectEvent, 'object'> {
  const words = `${reason}${message === '' ? '' : `: ${message}`}`.slice(0, longestEvent);
  return { type: bad.has(name) ? 'Warning' : 'Normal', reason: name, message: words };
}

const bad: ReadonlySet<string> = new Set(['InstallFailed', 'DeleteFailed']);

function stagesIn(object: KubeObject): Stage[] {
  return listAt(object, 'status', 'stages').flatMap((stage) => {
    const [name, started, ended] = [textAt(stage, 'name'), textAt(stage, 'started'), textAt(stage, 'ended')];
    if (name === undefined || started === undefined) return [];
    return [{ name, started, ...(ended === undefined ? {} : { ended }) }];
  });
}

function historyOf(object: KubeObject): StoredState[] {
  return listAt(object, 'status', 'history').flatMap((state) => storedOf(state) ?? []);
}

function storedOf(value: unknown): StoredState | undefined {
  const [name, since] = [textAt(value, 'name'), textAt(value, 'since')];
  if (name === undefined || since === undefined) return undefined;
  const rest = Object.fromEntries(
    ['reason', 'message', 'host', 'step'].flatMap((field) => {
      const text = textAt(value, field);
      return text === undefined ? [] : [[field, text] as const];
    }),
  );
  return { name, since, ...rest };
}
