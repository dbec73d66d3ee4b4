// Waits until a local service answers as other hosts will ask it, telling what systemd and the connection say meanwhile.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { toError } from '../../lib/thrown.ts';
import type { Host } from '../../host/host.ts';
import type { TaskScope } from '../task.ts';
import { probeHttps } from './probe.ts';
import { type LocalService, localServices, type ServiceId } from './service-list.ts';
import { readUnitState } from './unit-state.ts';

export interface ServiceToWaitFor {
  readonly settings: BootstrapSettings;
  readonly ca: string;
  readonly service: ServiceId;
}

export async function waitForService(scope: TaskScope, { settings, ca, service: id }: ServiceToWaitFor): Promise<void> {
  const service = localServices(settings).find((other) => other.id === id);
  if (service === undefined) throw new Error(`no service ${id}`);
  await scope.wait({
    for: `${id} to answer on ${service.url}`,
    timeoutMs: 60_000,
    intervalMs: 250,
    next: `journalctl -u ${service.unit}`,
    probe: async () => {
      const trouble = await serviceTrouble(service, ca);
      if (trouble === undefined) return { ready: true };
      return { ready: false, cause: await withUnitState(scope.host, service, trouble) };
    },
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

async function withUnitState(host: Host, service: LocalService, trouble: string): Promise<string> {
  const unit = await readUnitState(host, service.unit);
  return unit.active === 'active' ? trouble : `${service.unit} is ${unit.active} (${unit.result}); ${trouble}`;
}
