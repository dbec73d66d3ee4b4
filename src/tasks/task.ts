// A task: one thing that is done to a machine, by the CLI on its own host or by the agent on its host; it doesn't know which (ARCHITECTURE.md, "Folders").
import type { Step } from '../operations/operation.ts';
import type { TaskScope } from '../operations/scope.ts';

export type { TaskScope } from '../operations/scope.ts';

/** @typeParam Parameters what is known when an operation is planned. @typeParam Made what only earlier steps of the operation make, e.g. a certificate. */
export interface Task<Parameters, Made = unknown> {
  /** Stable step name, e.g. 'services/registry'. */
  readonly name: string;
  title(parameters: Parameters): string;
  /** Bound on the whole task. */
  readonly timeoutMs: number;
  /** As in a step (src/operations/operation.ts). */
  readonly found?: string;
  run(scope: TaskScope, parameters: Parameters & Made): Promise<void>;
}

/**
 * A task with its parameters, as the runner takes it.
 * @param made asked when the step runs.
 */
export function taskStep<Parameters extends object>(task: Task<Parameters>, parameters: Parameters): Step<TaskScope>;
export function taskStep<Parameters extends object, Made extends object>(
  task: Task<Parameters, Made>,
  parameters: Parameters,
  made: () => Made,
): Step<TaskScope>;
export function taskStep<Parameters extends object>(
  task: Task<Parameters, object>,
  parameters: Parameters,
  made: () => object = () => ({}),
): Step<TaskScope> {
  return {
    name: task.name,
    title: task.title(parameters),
    timeoutMs: task.timeoutMs,
    ...(task.found === undefined ? {} : { found: task.found }),
    run: (scope) => task.run(scope, { ...parameters, ...made() }),
  };
}
