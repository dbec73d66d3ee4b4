// Starts and stops the local services' units, in the order they need each other.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { startAnew, systemctl } from '../../host/systemd.ts';
import type { Phase } from '../../operations/operation.ts';
import type { TaskScope } from '../task.ts';
import { unitNames } from './layout.ts';
import { localServices } from './service-list.ts';
import { ensureCertificates } from './site-ca.ts';
import { readUnitState } from './unit-state.ts';
import { waitForService } from './wait.ts';

export type ControlVerb = 'start' | 'stop';

export interface ControlParameters {
  readonly host: string;
  readonly hostname: string;
  readonly settings: BootstrapSettings;
  readonly now: Date;
}

/** Stopped in the other order: what takes pushes first. */
const startOrder = [unitNames.registry, unitNames.files, unitNames.registryPush];

export function controlPhase(verb: ControlVerb, parameters: ControlParameters): Phase<TaskScope> {
  const title = verb === 'start' ? 'Start the local services' : 'Stop the local services';
  const run = verb === 'start' ? startServices : stopServices;
  const step = {
    name: `services/${verb}`,
    title,
    timeoutMs: 10 * 60_000,
    run: (scope: TaskScope) => run(scope, parameters),
  };
  return { id: 'services', title, chains: [{ host: parameters.host, steps: [step] }] };
}

/** Running units are left alone, except where they hold a certificate that was just renewed. */
async function startServices(scope: TaskScope, { settings, hostname, now }: ControlParameters): Promise<void> {
  const { ca, renewed } = await ensureCertificates(scope, { ...settings, hostname, now });
  for (const unit of startOrder) {
    const { active } = await readUnitState(scope.host, unit);
    if (active !== 'active') await scope.act(`start ${unit}`, () => startAnew(scope.host, unit));
    else if (renewed) await scope.act(`restart ${unit}`, () => startAnew(scope.host, unit));
  }
  for (const { id } of localServices(settings)) await waitForService(scope, { settings, ca, service: id });
}

async function stopServices(scope: TaskScope): Promise<void> {
  for (const unit of startOrder.toReversed()) {
    const { active } = await readUnitState(scope.host, unit);
    if (active !== 'inactive') await scope.act(`stop ${unit}`, () => systemctl(scope.host, 'stop', unit));
  }
}
