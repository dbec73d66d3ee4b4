// What systemd says about a unit of the local services, as far as status and waits ask.
import type { Host } from '../../host/host.ts';
import { runChecked } from '../../host/run-checked.ts';
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

/** systemd's status of a process whose program could not be run (systemd.exec(5), "Process exit codes"). */
const execFailed = '203';

/** The program of a unit where systemd could not run it at its last start; undefined where that was not the trouble. */
export async function programNotRun(host: Host, unit: string): Promise<{ path: string; there: boolean } | undefined> {
  const argv = ['systemctl', 'show', '--property=ExecMainStatus,ExecStart', '--', unit] as const;
  const { stdout } = await runChecked(host, argv, { timeoutMs: 15_000 });
  if (!stdout.split('\n').includes(`ExecMainStatus=${execFailed}`)) return undefined;
  const path = /^ExecStart=\{ path=(\S+) ;/m.exec(stdout)?.[1];
  return path === undefined ? undefined : { path, there: (await host.files.stat(path)) !== undefined };
}
