// Runs an operation on this host under its ledger: the lock first, then the journal; a dry run takes neither.
import type { OperationAction, Outcome } from '../api/events.ts';
import { kindOf } from '../host/changes/kinds.ts';
import type { Change, Scope } from '../host/changes/change.ts';
import type { Host } from '../host/host.ts';
import { type Ledger, type LedgerView, openLedger, readLedger } from '../host/ledger/ledger.ts';
import { newOperationId } from '../operations/journal.ts';
import { runLocalOperation, throwUnlessDone } from '../operations/local-operation.ts';
import type { OperationResult, Phase, StepBinding } from '../operations/operation.ts';
import { createTaskScope } from '../operations/task-scope.ts';
import type { TaskScope } from '../tasks/task.ts';
import type { CommandContext } from './context.ts';

export interface HostOperation {
  readonly host: Host;
  readonly action: OperationAction;
  readonly phases: readonly Phase<TaskScope>[];
  readonly dryRun: boolean;
  /** Whose reset undoes what a phase changes. */
  readonly scopeOf: (phase: string) => Scope;
  readonly next: (outcome: Outcome) => readonly string[];
  /** Temporary path that this bke was brought to. */
  readonly binary?: string;
}

/** @throws BkeError BKE_LOCKED where another bke works on this host; what the operation failed with. */
export async function runOnThisHost(context: CommandContext, operation: HostOperation): Promise<OperationResult> {
  return operation.dryRun ? planOnThisHost(context, operation) : changeThisHost(context, operation);
}

/** @throws BkeError BKE_LOCKED where another bke works on this host. */
export function openLedgerFor(
  context: CommandContext,
  host: Host,
  run: { readonly operation: string; readonly command: string; readonly binary?: string },
): Promise<Ledger> {
  return openLedger(host, { ...run, signal: context.signal, tell: (message) => context.note(message) });
}

/** A copied disk or a cloned virtual machine brings the record of where it came from: it may tell of what was never done here. */
export function noteOtherMachine(
  context: CommandContext,
  host: Host,
  { otherMachine }: Pick<LedgerView, 'otherMachine'>,
): void {
  if (!otherMachine) return;
  context.note(
    `Warning: the record of changes on ${host.name} was begun on another machine (/etc/machine-id differs): this host, or its disk, is a copy. ` +
      "Addresses and names in what 'bke init' set up may still be those of the other machine; 'bke reset --all --mount' takes it away.",
  );
}

const describe = (change: Change): string => kindOf(change).describe(change);

/** What a step's scope has in a dry run and in earnest alike. */
function scopeBasis(context: CommandContext, { host, scopeOf }: HostOperation, { place }: StepBinding) {
  return { host, scope: scopeOf(place.phase), now: context.now, describe };
}

async function planOnThisHost(context: CommandContext, operation: HostOperation): Promise<OperationResult> {
  const ledger = await readLedger(operation.host);
  noteOtherMachine(context, operation.host, ledger);
  return run(context, operation, (binding) =>
    createTaskScope({ ...scopeBasis(context, operation, binding), dryRun: true, ledger }, binding),
  );
}

async function changeThisHost(context: CommandContext, operation: HostOperation): Promise<OperationResult> {
  const id = newOperationId(operation.action, context.now());
  const command = `bke ${operation.action.replaceAll('.', ' ')}`;
  const brought = operation.binary === undefined ? {} : { binary: operation.binary };
  const ledger = await openLedgerFor(context, operation.host, { operation: id, command, ...brought });
  noteOtherMachine(context, operation.host, ledger);
  try {
    const createScope = (binding: StepBinding): TaskScope =>
      createTaskScope({ ...scopeBasis(context, operation, binding), dryRun: false, ledger }, binding);
    const result = await run(context, operation, createScope, id);
    await ledger.finish();
    return result;
  } finally {
    await ledger.close();
  }
}

async function run(
  context: CommandContext,
  { action, phases, dryRun, next }: HostOperation,
  createScope: (binding: StepBinding) => TaskScope,
  id?: string,
): Promise<OperationResult> {
  const result = await runLocalOperation(context, {
    ...(id === undefined ? {} : { id }),
    action,
    target: 'this host',
    phases,
    dryRun,
    createScope,
    next,
  });
  throwUnlessDone(result);
  return result;
}
