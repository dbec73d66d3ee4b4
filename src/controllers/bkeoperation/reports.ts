// Errors and ends of hosts, between the status of an operation and its events.
import type { HostState } from '../../api/events.ts';
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';
import { errorTable } from '../../lib/error-table.ts';
import { BkeError, type ErrorReport, toErrorReport } from '../../lib/errors.ts';
import { inLines } from './causes.ts';
import { defined } from '../../lib/defined.ts';

type HostEntry = NonNullable<BKEOperationStatus['hosts']>[number];

export function hostState({ state, phase, step, changed, error }: HostEntry, host: string | undefined): HostState {
  const words = {
    Running: 'stopped',
    Done: 'done',
    Failed: 'failed',
    Stopped: 'stopped',
    Untouched: 'untouched',
  } as const;
  return {
    ...defined({ host, phase, step }),
    state: words[state],
    changed: changed === true,
    ...(error === undefined ? {} : { error: report(error) }),
  };
}

type StoredError = NonNullable<BKEOperationStatus['error']>;

/** A code that this release does not have came from another one. */
export function report({ code, message, hint, host }: StoredError): ErrorReport {
  const known = Object.keys(errorTable).find((name): name is keyof typeof errorTable => name === code);
  return { code: known ?? 'BKE_COMMAND_FAILED', ...inLines(message), ...defined({ hint, host }) };
}

/** Further lines become part of the message. */
export function stored({ code, message, hint, host, details = [] }: ErrorReport): StoredError {
  return { code, message: [message, ...details].join('\n').slice(0, 4096), ...defined({ hint, host }) };
}

const ample = { message: 1500, hint: 1000, lines: 12 } as const;
const scarce = { message: 160, hint: 100, lines: 0 } as const;
const longestLine = 300;
/** Letters of errors after which those of further hosts are told in short: all of them stand in one object, in the status and in the last event. */
const amplyTold = 150_000;

/** Of its lines the last are kept. @param told letters of the errors that are in the object already */
export function bounded({ code, message, hint, host, details = [] }: ErrorReport, told: number): ErrorReport {
  const most = told < amplyTold ? ample : scarce;
  const lines = details.slice(Math.max(0, details.length - most.lines)).map((line) => line.slice(0, longestLine));
  return {
    code,
    message: message.slice(0, most.message),
    ...defined({ hint: hint?.slice(0, most.hint), host, details: lines.length === 0 ? undefined : lines }),
  };
}

export function lettersOf({ message, hint = '' }: StoredError): number {
  return message.length + hint.length;
}

export function cancelledReport(): StoredError {
  return stored(toErrorReport(new BkeError('BKE_CANCELLED', 'stopped before it was done')));
}
