// Starts and stops the local services' units, in the order they need each other.
import { readUnitState } from './unit-state.ts';
import { BkeError } from '../../lib/errors.ts';
import type { TaskScope } from '../task.ts';
import { unitNames } from './layout.ts';

/** Stopped in the other order: what takes pushes first. */
const startOrder = [unitNames.registryPush, unitNames.registry, unitNames.files];

/** Running units are left alone. Being started is no change of the host: the units are meant to run. */
export async function startServices(scope: TaskScope): Promise<void> {
  for (const unit of startOrder) await setUnit(scope, unit, 'start');
}

export async function stopServices(scope: TaskScope): Promise<void> {
  for (const unit of startOrder.toReversed()) await setUnit(scope, unit, 'stop');
}

async function setUnit(scope: TaskScope, unit: string, verb: 'start' | 'stop'): Promise<void> {
  const { active } = await readUnitState(scope.host, unit);
  if ((active === 'active') === (verb === 'start') && active !== 'failed') return;
  await scope.act(`${verb} ${unit}`, async () => {
    const result = await scope.host.run(['systemctl', verb, unit], { timeoutMs: 120_000, signal: scope.signal });
    if (result.exitCode === 0) return;
    throw new BkeError('BKE_COMMAND_FAILED', `systemctl ${verb} ${unit} failed: ${result.stderr.trim()}`, {
      host: scope.host.name,
      hint: `See journalctl -u ${unit}.`,
    });
  });
}
