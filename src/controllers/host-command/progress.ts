// How far an order is on its host, by the host's HostCommand as it is now. Pure.
import { type HostCommandStep, hostCommandStep } from '../../api/kinds/host-command.ts';
import type { KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { contentOf, type Order, readCommandID } from './command-id.ts';

export type StepError = NonNullable<HostCommandStep['error']>;

export type Progress =
  /** It was not given; the host does nothing else. */
  | { readonly state: 'absent' }
  /** Another command runs. */
  | { readonly state: 'busy'; readonly commandID: string }
  | { readonly state: 'running'; readonly step: string; readonly message: string }
  | { readonly state: 'done'; readonly steps: readonly HostCommandStep[] }
  | {
      readonly state: 'failed';
      readonly commandID: string;
      readonly attempt: number;
      readonly step: string;
      readonly error: StepError;
    };

export function progressOf(command: KubeObject | undefined, order: Order): Progress {
  const commandID = textAt(command, 'spec', 'commandID') ?? '';
  const name = readCommandID(commandID);
  const isIt = name?.purpose === order.purpose && name.content === contentOf(order);
  if (!isIt) return isOver(command) ? { state: 'absent' } : { state: 'busy', commandID };
  const steps = stepsOf(command);
  if (!isOver(command)) return running(command, steps);
  const failed = steps.find(({ state }) => state === 'Failed');
  if (failed !== undefined) {
    return { state: 'failed', commandID, attempt: name.attempt, step: failed.id, error: failed.error ?? noWords };
  }
  // What was cancelled is asked for again where it is still wanted.
  return steps.every(({ state }) => state === 'Done') ? { state: 'done', steps } : { state: 'absent' };
}

const noWords: StepError = { code: 'BKE_INTERNAL', message: 'the agent said no more than that it failed' };

/** Nothing of it is or will be done any more. A command that the agent has not taken yet is not over. */
export function isOver(command: KubeObject | undefined): boolean {
  const wanted = listAt(command, 'spec', 'steps');
  if (command === undefined || wanted.length === 0) return true;
  const steps = stepsOf(command);
  return steps.length > 0 && steps.every(({ state }) => terminal.has(state));
}

const terminal: ReadonlySet<string> = new Set(['Done', 'Failed', 'Cancelled']);

/** Empty where they are of another command. */
function stepsOf(command: KubeObject | undefined): HostCommandStep[] {
  if (textAt(command, 'status', 'commandID') !== textAt(command, 'spec', 'commandID')) return [];
  return listAt(command, 'status', 'steps').flatMap((step) => hostCommandStep.safeParse(step).data ?? []);
}

function running(command: KubeObject | undefined, steps: readonly HostCommandStep[]): Progress {
  const now = steps.find(({ state }) => state === 'Running') ?? steps.find(({ state }) => state === 'Pending');
  if (now === undefined) {
    const first = textAt(listAt(command, 'spec', 'steps')[0], 'id') ?? '';
    return { state: 'running', step: first, message: 'the agent has not taken it yet' };
  }
  return { state: 'running', step: now.id, message: now.message ?? '' };
}
