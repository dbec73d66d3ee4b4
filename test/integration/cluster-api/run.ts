// Runs phases as bke does, on this machine, whose files are only read.
import type { OperationEvent } from '../../../src/api/events.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import type { OperationResult, Phase } from '../../../src/operations/operation.ts';
import { runOperation } from '../../../src/operations/runner.ts';
import { createTaskScope } from '../../../src/operations/task-scope.ts';
import type { TaskScope } from '../../../src/tasks/task.ts';

export interface Ran {
  readonly result: OperationResult;
  readonly events: readonly OperationEvent[];
  /** What a dry run would do. */
  readonly planned: readonly string[];
}

export async function runPhases(phases: readonly Phase<TaskScope>[], { dryRun = false } = {}): Promise<Ran> {
  const host = await openLocalHost();
  const events: OperationEvent[] = [];
  const now = (): Date => new Date();
  const noChange = async (): Promise<never> => {
    throw new Error('objects of a cluster are no changes to a host');
  };
  const common = { host, scope: 'bootstrap-cluster', now, describe: () => '' } as const;
  const result = await runOperation<TaskScope>({
    id: '20261130-101500-init-ab12',
    action: 'init',
    target: 'this host',
    phases,
    concurrency: 1,
    dryRun,
    signal: new AbortController().signal,
    now,
    createScope: (binding) =>
      dryRun
        ? createTaskScope({ ...common, dryRun, ledger: { observe: noChange } }, binding)
        : createTaskScope({ ...common, dryRun, ledger: { apply: noChange } }, binding),
    sink: (event) => events.push(event),
  });
  await host.close();
  return { result, events, planned: events.flatMap((event) => (event.type === 'step.planned' ? [event.what] : [])) };
}
