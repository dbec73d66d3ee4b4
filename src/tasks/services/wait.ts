// Waits until a local service answers as other hosts will ask it, telling what systemd and the connection say meanwhile.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { lastLog } from '../../host/systemd.ts';
import { BkeError } from '../../lib/errors.ts';
import { toError } from '../../lib/thrown.ts';
import type { Host } from '../../host/host.ts';
import type { TaskScope } from '../task.ts';
import { probeHttps } from './probe.ts';
import { type LocalService, localServices, type ServiceId } from './service-list.ts';
import { programNotRun, readUnitState, type UnitState } from './unit-state.ts';

export interface ServiceToWaitFor {
  readonly settings: BootstrapSettings;
  readonly ca: string;
  readonly service: ServiceId;
}

export async function waitForService(scope: TaskScope, { settings, ca, service: id }: ServiceToWaitFor): Promise<void> {
  const service = localServices(settings).find((other) => other.id === id);
  if (service === undefined) throw new Error(`no service ${id}`);
  let restartsBefore: number | undefined;
  await scope.wait({
    for: `${id} to answer on ${service.url}`,
    timeoutMs: 60_000,
    intervalMs: 250,
    next: `journalctl -u ${service.unit}`,
    probe: async () => {
      const trouble = await serviceTrouble(service, ca);
      if (trouble === undefined) return { ready: true };
      const unit = await readUnitState(scope.host, service.unit);
      restartsBefore ??= unit.restarts;
      await refuseHopeless(scope.host, service.unit, { unit, restarts: unit.restarts - restartsBefore });
      const cause =
        unit.active === 'active' ? trouble : `${service.unit} is ${unit.active} (${unit.result}); ${trouble}`;
      return { ready: false, cause };
    },
  });
}

/** Restarts during a wait after which the next one will not help either. */
const restartLimit = 5;

/** @throws BkeError BKE_COMMAND_FAILED where waiting longer can't help: the program is gone, or it ends again and again. */
async function refuseHopeless(
  host: Host,
  name: string,
  { unit, restarts }: { readonly unit: UnitState; readonly restarts: number },
): Promise<void> {
  const notRun = unit.active === 'active' ? undefined : await programNotRun(host, name);
  if (notRun !== undefined) {
    const why = notRun.there ? `${notRun.path} cannot be run` : `${notRun.path} is not there`;
    throw new BkeError('BKE_COMMAND_FAILED', `${name} cannot start: ${why}`, {
      host: host.name,
      hint: 'bke init puts it back.',
    });
  }
  if (restarts <= restartLimit) return;
  throw new BkeError('BKE_COMMAND_FAILED', `${name} does not stay up: systemd started it again ${restarts} times`, {
    host: host.name,
    details: await lastLog(host, name),
    hint: `See: journalctl -u ${name}`,
  });
}

/** Why a service isn't healthy, undefined where it is. */
export async function serviceTrouble(service: LocalService, ca: string): Promise<string | undefined> {
  try {
    const { status } = await probeHttps({ ...service.probe, ca });
    return status === service.healthy ? undefined : `it answers HTTP ${status} instead of ${service.healthy}`;
  } catch (error) {
    return toError(error).message;
  }
}
