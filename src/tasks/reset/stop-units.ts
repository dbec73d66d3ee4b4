// Stops units in two goes: what starts pods first, the container runtime and bke's own after the pods are gone.
import { nodeUnits } from '../../host/state/units.ts';
import { trySystemctl } from '../../host/systemd.ts';
import type { Step } from '../../operations/operation.ts';
import { reasonOf } from '../../host/state/bounded.ts';
import type { ResetScope } from './reset-scope.ts';

const stopMs = 30_000;

function isNodeUnit(name: string): boolean {
  return (nodeUnits as readonly string[]).includes(name);
}

async function stopUnits(scope: ResetScope, names: readonly string[]): Promise<void> {
  const { host, run } = scope;
  if (names.length === 0) return;
  await scope.act(`stop ${names.join(', ')}`, async () => {
    const stopped = await trySystemctl(host, ['stop', '--', ...names], stopMs);
    if (stopped === undefined || stopped.exitCode === 0) return;
    await trySystemctl(host, ['kill', '--signal=SIGKILL', '--', ...names], 5000);
    const again = await trySystemctl(host, ['stop', '--', ...names], stopMs);
    if (again === undefined || again.exitCode === 0) return;
    for (const name of names) run.left.push({ what: name, why: reasonOf(again), see: `systemctl status ${name}` });
  });
}

/** A unit the ledger doesn't know is kept from coming back; the ledger's own get their old state back later. */
async function disableUnrecorded(scope: ResetScope, names: readonly string[]): Promise<void> {
  const recorded = new Set(
    scope.run.ledger.resources().flatMap(({ record: { last } }) => (last.kind === 'unit' ? [last.name] : [])),
  );
  const others = names.filter((name) => !recorded.has(name));
  if (others.length === 0) return;
  await scope.act(`disable ${others.join(', ')}`, async () => {
    await trySystemctl(scope.host, ['disable', '--', ...others], stopMs);
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
