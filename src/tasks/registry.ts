// Which task a step of a HostCommand names. Each is loaded when a command has it: an agent that only waits needs none.
import { BkeError } from '../lib/errors.ts';
import type { PreparedStep, StepKind } from './steps/step.ts';

const kinds: ReadonlyMap<string, () => Promise<StepKind>> = new Map([
  ['ping', async () => (await import('./steps/ping.ts')).pingStep],
  ['environment-check', async () => (await import('./steps/environment-check.ts')).environmentCheckStep],
  ['node/environment', async () => (await import('./steps/node.ts')).environmentStep],
  ['node/container-runtime', async () => (await import('./steps/node.ts')).containerRuntimeStep],
  ['node/kubernetes', async () => (await import('./steps/node.ts')).kubernetesStep],
  ['node/images', async () => (await import('./steps/node.ts')).imagesStep],
  ['bootstrap-data', async () => (await import('./steps/bootstrap-data.ts')).bootstrapDataStep],
  ['shell', async () => (await import('./steps/shell.ts')).shellStep],
  ['collect', async () => (await import('./steps/collect.ts')).collectStep],
  ['reset', async () => (await import('./steps/reset.ts')).resetStep],
]);

/** @throws BkeError BKE_STEP_UNKNOWN, BKE_STEP_INVALID */
export async function prepareStep(task: string, parameters: unknown): Promise<PreparedStep> {
  const load = kinds.get(task);
  if (load === undefined) {
    throw new BkeError('BKE_STEP_UNKNOWN', `this agent knows no task ${JSON.stringify(task)}`, {
      hint: 'The controller and the agent may be of different releases of bke: compare their versions.',
    });
  }
  return (await load()).prepare(parameters);
}
