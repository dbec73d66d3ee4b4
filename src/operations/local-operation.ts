// An operation of this process: an id, a journal, the runner, and an error to throw where it did not end well.
import type { EventSink, HostState, OperationAction } from '../api/events.ts';
import { BkeError } from '../lib/errors.ts';
import { listedShort, plural } from '../lib/text.ts';
import { toError } from '../lib/thrown.ts';
import { createJournal, type Journal, newOperationId } from './journal.ts';
import type { OperationOptions, OperationResult, Phase, StepBinding } from './operation.ts';
import { runOperation } from './runner.ts';

/** What is needed of a command's context. */
export interface OperationEnvironment {
  readonly events: EventSink;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly operationsDirectory: string | undefined;
}

export interface LocalOperation<Scope> {
  /** From newOperationId, where it is needed before (the ledger notes it); else made here. */
  readonly id?: string;
  readonly action: OperationAction;
  readonly target: string;
  readonly phases: readonly Phase<Scope>[];
  readonly dryRun: boolean;
  readonly createScope: (binding: StepBinding) => Scope;
  /** Default 10. */
  readonly concurrency?: number;
  readonly next?: OperationOptions<Scope>['next'];
}

/** A dry run keeps no journal: it must leave no trace. */
export async function runLocalOperation<Scope>(
  environment: OperationEnvironment,
  operation: LocalOperation<Scope>,
): Promise<OperationResult> {
  const { events: sink, signal, now } = environment;
  const id = operation.id ?? newOperationId(operation.action, now());
  const directory = operation.dryRun ? undefined : environment.operationsDirectory;
  const journal = directory === undefined ? undefined : await beginJournal(directory, id);
  const { action, target, phases, dryRun, createScope, concurrency = 10, next } = operation;
  try {
    return await runOperation({
      id,
      action,
      target,
      phases,
      concurrency,
      dryRun,
      signal,
      sink,
      journal,
      now,
      createScope,
      next,
    });
  } finally {
    journal?.close();
  }
}

/** One that can't be begun (a full disk, which a reset is about to empty) is told with the first event, and the work goes on without it. */
async function beginJournal(directory: string, id: string): Promise<Journal> {
  try {
    return await createJournal(directory, id);
  } catch (thrown) {
    const append = (): never => {
      throw toError(thrown);
    };
    return { path: directory, append, close: () => undefined };
  }
}

/** @throws the one error of the operation, an AggregateError of several hosts', or BKE_CANCELLED with the state of each host. */
export function throwUnlessDone(result: OperationResult): void {
  if (result.outcome === 'done') return;
  if (result.outcome === 'cancelled') throw cancelledError(result.hosts);
  if (result.errors.length === 1) throw result.errors[0];
  throw new AggregateError(result.errors, `${plural(result.errors.length, 'host')} failed`);
}

function cancelledError(hosts: readonly HostState[]): BkeError {
  const failures = hosts.flatMap(({ host, error }) =>
    error === undefined ? [] : [`${host === undefined ? '' : `${host}: `}error[${error.code}] ${error.message}`],
  );
  return new BkeError('BKE_CANCELLED', 'stopped before it was done', {
    details: [...hostStates(hosts), ...failures],
    hint: 'What was done stays. Run the same command again to go on from there.',
  });
}

/** `done: a, b` and the like; nothing where the work belongs to no host. */
function hostStates(hosts: readonly HostState[]): string[] {
  const lines: string[] = [];
  for (const state of ['done', 'stopped', 'failed', 'untouched'] as const) {
    const names = hosts.flatMap((entry) =>
      entry.state === state && entry.host !== undefined ? [nameAndStep(entry)] : [],
    );
    if (names.length > 0) lines.push(`${state}: ${listedShort(names, 20)}`);
  }
  return lines;
}

function nameAndStep({ host = '', state, step }: HostState): string {
  return step === undefined || state === 'done' ? host : `${host} (in ${step})`;
}
