// What systemd says about a unit of the local services, as far as status and waits ask.
import type { Host } from '../../host/host.ts';
import { readUnit, type UnitState as HostUnit } from '../../host/systemd.ts';

export interface UnitState extends Pick<HostUnit, 'active' | 'result' | 'since' | 'restarts'> {
  /** false: systemd knows no such unit. */
  readonly loaded: boolean;
  readonly enabled: boolean;
}

export async function readUnitState(host: Host, unit: string): Promise<UnitState> {
  const { load, enabled, active, result, since, restarts } = await readUnit(host, unit);
  return { loaded: load === 'loaded', enabled: enabled === 'enabled', active, result, since, restarts };
}
