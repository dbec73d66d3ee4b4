// A task: one thing that is done to a machine, by the CLI on its own host or by the agent on its host; it doesn't know which (design section 3).
import type { Step } from '../operations/operation.ts';
import type { TaskScope } from '../operations/scope.ts';

export type { TaskScope } from '../operations/scope.ts';

export interface Task<Parameters> {
  /** Stable step name, e.g. 'services/registry'. */
  readonly name: string;
  title(parameters: Parameters): string;
  /** Bound on the whole task. */
  readonly timeoutMs: number;
  run(scope: TaskScope, parameters: Parameters): Promise<void>;
}

/** A task with its parameters, as the runner takes it. */
export function taskStep<Parameters>(task: Task<Parameters>, parameters: Parameters): Step<TaskScope> {
  return {
    name: task.name,
    title: task.title(parameters),
    timeoutMs: task.timeoutMs,
    run: (scope) => task.run(scope, parameters),
  };
}
