// A step of a HostCommand: a task by name with parameters that came from the cluster, checked before anything of the command runs.
import type { z } from 'zod';
import type { AgentSettings } from '../../api/agent-config.ts';
import type { JsonObject } from '../../config/node-settings.ts';
import type { Ledger } from '../../host/ledger/ledger.ts';
import { BkeError } from '../../lib/errors.ts';
import type { TaskScope } from '../task.ts';

export interface StepContext {
  /** In a step that changes nothing, `apply` is refused: it has no ledger. */
  readonly scope: TaskScope;
  /** Under the lock of the host; of a step that changes the host only. */
  readonly ledger: Ledger | undefined;
  readonly settings: AgentSettings;
  /** Where the files of `agentPaths.artifacts` really are: the same, but in tests. */
  readonly artifactsDir: string;
  /** Bytes by key. @throws BkeError BKE_INBOX_EMPTY where the Secret is not there. */
  readonly readInbox: () => Promise<ReadonlyMap<string, Buffer>>;
}

/** What a step found out, for the status of the command: never a secret. */
export type StepResult = JsonObject;

export interface PreparedStep {
  readonly title: string;
  readonly timeoutMs: number;
  /** It changes the host: under its lock, recorded in the scope `node`. */
  readonly changes: boolean;
  run(context: StepContext): Promise<StepResult | void>;
}

export interface StepKind {
  /** @throws BkeError BKE_STEP_INVALID with every problem of the parameters. */
  prepare(parameters: unknown): PreparedStep;
}

export interface StepDefinition<Parameters> {
  readonly parameters: z.ZodType<Parameters>;
  readonly changes: boolean;
  title(parameters: Parameters): string;
  timeoutMs(parameters: Parameters): number;
  run(context: StepContext, parameters: Parameters): Promise<StepResult | void>;
}

export function stepKind<Parameters>(definition: StepDefinition<Parameters>): StepKind {
  return {
    prepare: (given) => {
      const parsed = definition.parameters.safeParse(given ?? {});
      if (!parsed.success) throw invalid(parsed.error);
      const parameters = parsed.data;
      return {
        title: definition.title(parameters),
        timeoutMs: definition.timeoutMs(parameters),
        changes: definition.changes,
        run: (context) => definition.run(context, parameters),
      };
    },
  };
}

/** Problems name fields, never what was in them. */
function invalid({ issues }: z.ZodError): BkeError {
  const details = issues
    .slice(0, 10)
    .map(({ path, message }) => [path.map(String).join('.'), message].filter((part) => part !== '').join(': '));
  return new BkeError('BKE_STEP_INVALID', `the parameters are wrong: ${details.join('; ')}`, {
    hint: 'The controller and the agent may be of different releases of bke: compare their versions.',
  });
}
