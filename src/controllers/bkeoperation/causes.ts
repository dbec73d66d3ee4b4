// Why something of a cluster is not so yet, in the words of whoever is at work on it: conditions, the step of a command, an error it ended with.
import type { KubeObject } from '../../kube/client.ts';
import type { Condition } from '../../kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';
import { type ErrorCode, errorTable } from '../../lib/error-table.ts';
import type { ErrorReport } from '../../lib/errors.ts';
import { inPlainWords } from './cluster-api-words.ts';

/** All of an object, in its own order. */
export function conditionsOf(object: KubeObject | undefined): Condition[] {
  return listAt(object, 'status', 'conditions').map((found) => ({
    type: textAt(found, 'type') ?? '',
    status: textAt(found, 'status') ?? 'Unknown',
    reason: textAt(found, 'reason') ?? '',
    message: textAt(found, 'message') ?? '',
  }));
}

/** True where the condition is there and true. */
export function holds(object: KubeObject | undefined, type: string): boolean {
  return conditionsOf(object).some((condition) => condition.type === type && condition.status === 'True');
}

/** They are false when all is well. */
export const wellWhenFalse = [
  'Paused',
  'Deleting',
  'RollingOut',
  'ScalingUp',
  'ScalingDown',
  'Remediating',
  'Updating',
] as const;

/** They are false when all is well, or sum up others. */
const quiet: ReadonlySet<string> = new Set([
  ...wellWhenFalse,
  'Ready',
  'Available',
  'UpToDate',
  'HealthCheckSucceeded',
  'OwnerRemediated',
  'TopologyReconciled',
]);

/** The first thing an object says is not so. Its sums are asked only where no part says anything. */
export function troubleOf(object: KubeObject | undefined): string | undefined {
  const all = conditionsOf(object).filter(({ status }) => status !== 'True');
  const parts = all.filter(({ type }) => !quiet.has(type));
  const sums = all.filter(({ type }) => type === 'Ready' || type === 'Available');
  const told = [...parts, ...sums].find(({ reason, message }) => reason !== '' || message !== '');
  return told === undefined ? undefined : causeWords(told);
}

/** A condition for people: what it says; where it says nothing its reason, as words. */
export function causeWords({ reason, message }: Pick<Condition, 'reason' | 'message'>): string {
  const words = inPlainWords(firstLine(message));
  return words === '' ? reason.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase() : words;
}

export interface CommandStep {
  readonly id: string;
  readonly task: string;
  /** Pending, Running, Done, Failed or Cancelled. */
  readonly state: string;
  readonly message: string | undefined;
  readonly error: ErrorReport | undefined;
}

/** Steps of the command that the host's agent has in its inbox; what it did before is not told of them. */
export function commandSteps(command: KubeObject | undefined): CommandStep[] {
  const isTold = textAt(command, 'status', 'commandID') === textAt(command, 'spec', 'commandID');
  const states = isTold ? listAt(command, 'status', 'steps') : [];
  return listAt(command, 'spec', 'steps').map((step) => {
    const id = textAt(step, 'id') ?? '';
    const told = states.find((state) => fieldAt(state, 'id') === id);
    return {
      id,
      task: textAt(step, 'task') ?? '',
      state: textAt(told, 'state') ?? 'Pending',
      message: textAt(told, 'message'),
      error: errorOf(fieldAt(told, 'error')),
    };
  });
}

/** What tasks of the agent (src/tasks/registry.ts) are for people. */
const taskWords: Readonly<Record<string, string>> = {
  'environment-check': 'checks',
  'node/environment': 'kernel settings and tools',
  'node/container-runtime': 'container runtime',
  'node/kubernetes': 'programs of Kubernetes',
  'node/images': 'images',
  'bootstrap-data': 'become a node',
  reset: 'take the cluster off the host',
};

/** What the agent does now. */
export function workOf(steps: readonly CommandStep[]): string | undefined {
  const current = steps.find(({ state }) => state === 'Running') ?? steps.find(({ state }) => state === 'Pending');
  if (current === undefined) return undefined;
  const number = `step ${steps.indexOf(current) + 1} of ${steps.length}, ${taskWords[current.task] ?? current.task}`;
  if (current.state === 'Pending') return `${number}: the agent has not begun it yet`;
  return current.message === undefined ? number : `${number}: ${firstLine(current.message)}`;
}

/** As a status has it. */
export function errorOf(value: unknown): ErrorReport | undefined {
  const message = textAt(value, 'message');
  if (message === undefined) return undefined;
  const hint = textAt(value, 'hint');
  return {
    code: codeOf(textAt(value, 'code')) ?? 'BKE_COMMAND_FAILED',
    ...inLines(message),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Where an error is kept, its further lines are part of its message. */
export function inLines(text: string): Pick<ErrorReport, 'message' | 'details'> {
  const [message = '', ...details] = text.trim().split('\n');
  return { message, ...(details.length === 0 ? {} : { details }) };
}

/** Controllers write an error into a message as `where: CODE: what happened`, then lines, the last of them what to do. */
export function errorInMessage(message: string): ErrorReport | undefined {
  const [first = '', ...rest] = message.split('\n');
  const [, code, words] = /^(?:[^:]*: )?(BKE_[A-Z0-9_]+): (.*)$/.exec(first) ?? [];
  const known = codeOf(code);
  if (known === undefined || words === undefined) return undefined;
  const hint = rest.at(-1);
  const details = rest.slice(0, -1);
  return {
    code: known,
    message: words,
    ...(hint === undefined ? {} : { hint }),
    ...(details.length === 0 ? {} : { details }),
  };
}

function codeOf(text: string | undefined): ErrorCode | undefined {
  return Object.keys(errorTable).find((code): code is ErrorCode => code === text);
}

/** With the line after it where it only leads to that: Cluster API tells what is below an object as a list. */
export function firstLine(text: string): string {
  const lines = text.split('\n').flatMap((line) => line.trim().replace(/^\* /, '') || []);
  const last = lines.findIndex((line) => !line.endsWith(':'));
  return lines.slice(0, last === -1 ? 1 : last + 1).join(' ');
}
