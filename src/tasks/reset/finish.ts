// The last act of a reset: the ledger and the journals beside it, once nothing of bke is to stay.
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import type { Step } from '../../operations/operation.ts';
import type { ResetFlags } from './reset-plan.ts';
import type { ResetScope } from './reset-scope.ts';
import { standingScopes } from './standing.ts';

/** Folders of the state directory that are bke's own and in no record. */
export function stateFolders({ all }: ResetFlags): string[] {
  return ['operations', ...(all ? ['agent'] : [])];
}

async function finish(scope: ResetScope): Promise<void> {
  const { host, ledger, flags, kept } = scope.run;
  if (ledger.resources().length > 0 || (await standingScopes(host, ledger, flags)).length > 0) return;
  await scope.act(`remove the ledger in ${defaultStateDir}`, async () => {
    for (const binary of ledger.binaries) await scope.host.files.remove(binary);
    const { left } = await ledger.remove(stateFolders(flags));
    for (const entry of left) kept.push({ what: entry.path, why: entry.why });
  });
}

export const finishStep: Step<ResetScope> = {
  name: 'reset/finish',
  title: 'Remove the ledger',
  timeoutMs: 120_000,
  run: finish,
};
