// The step `reset`: takes Kubernetes and all of the scope `node` off this host; the agent itself stays. Done means: looked at again, and clean.
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import { prepareReset, runResetSteps, throwIfRefused } from '../reset/reset.ts';
import { type ResetRun, resetRun } from '../reset/reset-scope.ts';
import { type StepContext, stepKind } from './step.ts';

export const resetStep = stepKind({
  parameters: z.strictObject({
    scope: z.literal('node').default('node'),
    /** Also the data of users' volumes. */
    purgeVolumes: z.boolean().default(false),
  }),
  changes: true,
  title: () => 'Take Kubernetes off this host',
  timeoutMs: () => 30 * 60_000,
  run: async (context, { purgeVolumes }) => {
    const run = await begin(context, purgeVolumes);
    await runResetSteps({ ...context.scope, run });
    return { clean: true, kept: run.kept.slice(0, 50).map(({ what, why }) => `${what}: ${why}`) };
  },
});

async function begin({ scope, ledger }: StepContext, purgeVolumes: boolean): Promise<ResetRun> {
  const { host } = scope;
  if (ledger === undefined) throw new Error('a reset needs the ledger');
  // A reset of a node takes a bootstrap cluster too; nobody who means a node means that.
  if (ledger.scopes.includes('bootstrap-cluster')) {
    throw new BkeError('BKE_RESET_REFUSED', 'the bootstrap cluster is on this host', {
      host: host.name,
      hint: "Take it away on the host itself with 'bke reset'.",
    });
  }
  const flags = { all: false, mount: false, purgeVolumes };
  const plan = await prepareReset(host, flags, process.pid);
  throwIfRefused(host, plan);
  return resetRun({ host, ledger, flags }, plan);
}
