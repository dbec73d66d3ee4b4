// A command as the agent keeps it on its host: what is to be done, and how far each step is. Complete, so that it can go on without an API server.
import { z } from 'zod';
import {
  type HostCommandSpec,
  hostCommandSpec,
  type HostCommandStatus,
  type HostCommandStep,
  hostCommandStep,
} from '../api/kinds/host-command.ts';
import type { BkeError, ErrorReport } from '../lib/errors.ts';

const command = z.object({
  spec: hostCommandSpec,
  /** Which management cluster gave it: generations of different ones say nothing of each other. */
  realm: z.string(),
  steps: z.array(hostCommandStep),
});
export type CommandState = z.infer<typeof command>;

export function readCommandState(value: unknown): CommandState | undefined {
  return command.safeParse(value).data;
}

export function newCommand(spec: HostCommandSpec, realm: string): CommandState {
  return { spec, realm, steps: spec.steps.map(({ id }) => ({ id, state: 'Pending', attempt: 0 })) };
}

export function isTerminal({ state }: Pick<HostCommandStep, 'state'>): boolean {
  return state === 'Done' || state === 'Failed' || state === 'Cancelled';
}

export function isOver({ steps }: CommandState): boolean {
  return steps.every(isTerminal);
}

export function withStep(state: CommandState, id: string, change: Partial<HostCommandStep>): CommandState {
  return { ...state, steps: state.steps.map((step) => (step.id === id ? { ...step, ...change } : step)) };
}

/** A message says what is done now: of a step that is over there is none. */
export function ended(
  state: CommandState,
  id: string,
  end: Pick<HostCommandStep, 'state' | 'finished' | 'error' | 'result'>,
): CommandState {
  const steps = state.steps.map((step) => {
    if (step.id !== id) return step;
    const { message: _, ...rest } = step;
    return { ...rest, ...end };
  });
  return { ...state, steps };
}

/** What is not over is not begun any more. */
export function withRestCancelled(state: CommandState, finished: string): CommandState {
  return state.steps
    .filter((step) => !isTerminal(step))
    .reduce((rest, { id }) => ended(rest, id, { state: 'Cancelled', finished }), state);
}

/** Nothing of it was run. */
export function refusedCommand(spec: HostCommandSpec, error: BkeError, finished: string): HostCommandStatus {
  const report = errorReport(toReport(error));
  const steps = spec.steps.map(
    ({ id }, index): HostCommandStep =>
      index === 0
        ? { id, state: 'Failed', attempt: 0, finished, error: report }
        : { id, state: 'Cancelled', attempt: 0, finished },
  );
  return { commandID: spec.commandID, steps };
}

function toReport({ code, message, host, hint }: BkeError): ErrorReport {
  return { code, message, ...(host === undefined ? {} : { host }), ...(hint === undefined ? {} : { hint }) };
}

export function statusOf({ spec, steps }: CommandState): HostCommandStatus {
  return { commandID: spec.commandID, steps };
}

/** As the status has it: further lines become part of the message, and everything is bounded. */
export function errorReport({
  code,
  message,
  hint,
  host,
  details,
}: ErrorReport): NonNullable<HostCommandStep['error']> {
  return {
    code,
    message: [message, ...(details ?? [])].join('\n').slice(0, 4096),
    ...(hint === undefined ? {} : { hint: hint.slice(0, 4096) }),
    ...(host === undefined ? {} : { host }),
  };
}

const mostResult = 128 * 1024;
const mostResults = 512 * 1024;

/** An object in the cluster has a bound, and so have all results of a command together. */
export function boundedResult({ steps }: CommandState, result: HostCommandStep['result']): HostCommandStep['result'] {
  const bytes = JSON.stringify(result ?? {}).length;
  const others = steps.reduce((sum, step) => sum + JSON.stringify(step.result ?? {}).length, 0);
  return bytes > mostResult || bytes + others > mostResults ? { omitted: `${bytes} bytes are too much` } : result;
}
