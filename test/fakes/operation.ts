// Operations for tests: scopes that are the binding itself, and a run whose events are kept.
import type { OperationEvent } from '../../src/api/events.ts';
import type { OperationOptions, OperationResult, Phase, Step, StepBinding } from '../../src/operations/operation.ts';
import { runOperation } from '../../src/operations/runner.ts';

export interface RecordedRun {
  readonly result: OperationResult;
  readonly events: readonly OperationEvent[];
}

export async function record(
  phases: readonly Phase<StepBinding>[],
  options: Partial<OperationOptions<StepBinding>> = {},
): Promise<RecordedRun> {
  const events: OperationEvent[] = [];
  const result = await runOperation<StepBinding>({
    id: '20261130-101500-init-ab12',
    action: 'init',
    target: 'this host',
    phases,
    concurrency: 10,
    dryRun: false,
    signal: new AbortController().signal,
    now: () => new Date(),
    createScope: (binding) => binding,
    sink: (event) => events.push(event),
    ...options,
  });
  return { result, events };
}

export function step(
  name: string,
  run: Step<StepBinding>['run'] = async () => {},
  timeoutMs = 5000,
): Step<StepBinding> {
  return { name, title: `do ${name}`, timeoutMs, run };
}

/** Resolves after `ms`, earlier with an error when the step's signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(new Error('aborted'));
    };
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
