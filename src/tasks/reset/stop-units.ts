// Stops units in two goes: what starts pods first, the container runtime and bke's own after the pods are gone.
import { nodeUnits } from '../../host/state/units.ts';
import { findProgram } from '../../host/state/program.ts';
import type { Step } from '../../operations/operation.ts';
import { reasonOf, runBounded } from '../../host/state/bounded.ts';
import type { ResetScope } from './reset-scope.ts';

const stopMs = 30_000;

function isNodeUnit(name: string): boolean {
  return (nodeUnits as readonly string[]).includes(name);
}

async function stopUnits(scope: ResetScope, names: readonly string[]): Promise<void> {
  const { host, run } = scope;
  if (names.length === 0 || (await findProgram(host, 'systemctl')) === undefined) return;
  await scope.act(`stop ${names.join(', ')}`, async () => {
    const stopped = await runBounded(host, ['systemctl', 'stop', '--', ...names], { timeoutMs: stopMs });
    if (stopped.exitCode === 0) return;
    await runBounded(host, ['systemctl', 'kill', '--signal=SIGKILL', '--', ...names], { timeoutMs: 5000 });
    const again = await runBounded(host, ['systemctl', 'stop', '--', ...names], { timeoutMs: stopMs });
    if (again.exitCode === 0) return;
    for (const name of names) run.left.push({ what: name, why: reasonOf(again), see: `systemctl status ${name}` });
  });
}

/** A unit the ledger doesn't know is kept from coming back; the ledger's own get their old state back later. */
async function disableUnrecorded(scope: ResetScope, names: readonly string[]): Promise<void> {
  const recorded = new Set(
    scope.run.ledger.resources().flatMap(({ record: { last } }) => (last.kind === 'unit' ? [last.name] : [])),
  );
  const others = names.filter((name) => !recorded.has(name));
  if (others.length === 0 || (await findProgram(scope.host, 'systemctl')) === undefined) return;
  await scope.act(`disable ${others.join(', ')}`, async () => {
    await runBounded(scope.host, ['systemctl', 'disable', '--', ...others], { timeoutMs: stopMs });
  });
}

export const stopNodeStep: Step<ResetScope> = {
  name: 'reset/kubelet',
  title: 'Stop what starts pods',
  timeoutMs: 120_000,
  run: async (scope) => {
    const names = scope.run.selection.units.filter(isNodeUnit);
    await stopUnits(scope, names);
    await disableUnrecorded(scope, names);
  },
};

export const stopOthersStep: Step<ResetScope> = {
  name: 'reset/units',
  title: 'Stop other units',
  timeoutMs: 120_000,
  run: async (scope) => {
    const names = scope.run.selection.units.filter((name) => !isNodeUnit(name));
    await stopUnits(scope, names);
    await disableUnrecorded(scope, names);
  },
};
