// What stands on a services host: each service's unit, answer, version and data, read without changing anything.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Host } from '../../host/host.ts';
import { lastLine } from '../../lib/text.ts';
import { containerdPaths } from '../node/containerd-config.ts';
import { dataPaths, servicePaths } from './layout.ts';
import { type ContentRecord, readContent, readSettings } from './records.ts';
import { gapsOf } from './gaps.ts';
import { type LocalService, localServices } from './service-list.ts';
import { programNotRun, readUnitState, type UnitState } from './unit-state.ts';
import { serviceTrouble } from './wait.ts';

/**
 * healthy: runs, answers and has all that it should; unhealthy: runs but does not answer as it should; incomplete: answers, but something of what
 * was loaded or of its own files is gone; starting; stopped: someone stopped it;
 * failed: systemd gave up or keeps restarting it; missing: its unit is gone; pending: an init that runs has not come to it.
 */
type ServiceHealth = 'healthy' | 'unhealthy' | 'incomplete' | 'starting' | 'stopped' | 'failed' | 'missing' | 'pending';

export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceHealth;
  /** Empty where no unit of this host runs it. */
  readonly unit: string;
  readonly version: string;
  readonly address: string;
  /** Bytes on disk of what it serves; absent where it can't be read. */
  readonly dataBytes?: number;
  /** RFC 3339. */
  readonly since?: string;
  /** Why it isn't healthy. */
  readonly reason?: string;
}

export interface ServicesStatus {
  readonly settings: BootstrapSettings;
  /** Absent where no load came to its end yet. */
  readonly content: ContentRecord | undefined;
  readonly services: readonly ServiceStatus[];
}

/** undefined where init was never run on this host, or everything was taken away again. */
export async function readStatus(host: Host): Promise<ServicesStatus | undefined> {
  const settings = await readSettings(host);
  if (settings === undefined) return undefined;
  const content = await readContent(host);
  const ca = (await host.files.read(servicePaths.siteCa))?.toString('utf8') ?? '';
  const services = await Promise.all(
    localServices(settings).map((service) => serviceStatus(host, service, { settings, ca, content })),
  );
  return { settings, content, services: [...services, ...(await runtimeStatus(host, { settings, ca, content }))] };
}

interface Known {
  readonly settings: BootstrapSettings;
  readonly ca: string;
  readonly content: ContentRecord | undefined;
}

async function serviceStatus(host: Host, service: LocalService, known: Known): Promise<ServiceStatus> {
  const unit = await readUnitState(host, service.unit);
  const trouble = unit.active === 'active' ? await serviceTrouble(service, known.ca) : undefined;
  const gaps = unit.active === 'active' && trouble === undefined ? await gapsOf(host, service, known) : [];
  const dataBytes = await directorySize(host, dataPaths(known.settings.dataDir)[service.data]);
  return {
    name: service.id,
    ...(await explained(host, service.unit, healthOf(unit, trouble, gaps))),
    unit: service.unit,
    version: (await versionOf(host, service.unit)) ?? 'unknown',
    address: service.url,
    ...(dataBytes === undefined ? {} : { dataBytes }),
    ...sinceOf(unit),
  };
}

/** containerd, once init has come that far. */
async function runtimeStatus(host: Host, { settings, content }: Known): Promise<ServiceStatus[]> {
  // K3s brings its own.
  if (settings.bootstrap === 'k3s') return [];
  const unit = await readUnitState(host, 'containerd.service');
  if (!unit.loaded && content === undefined) return [];
  const trouble = unit.active === 'active' ? await runtimeTrouble(host) : undefined;
  const dataBytes = await directorySize(host, containerdPaths.root);
  return [
    {
      name: 'containerd',
      ...healthOf(unit, trouble),
      unit: 'containerd.service',
      version: (await versionOf(host, 'containerd.service')) ?? 'unknown',
      address: `unix://${containerdPaths.socket}`,
      ...(dataBytes === undefined ? {} : { dataBytes }),
      ...sinceOf(unit),
    },
  ];
}

/** Only root may ask containerd; for others that systemd calls it active is all that can be known. */
async function runtimeTrouble(host: Host): Promise<string | undefined> {
  const result = await host.run(['/usr/local/bin/crictl', 'version'], { timeoutMs: 10_000 });
  if (result.exitCode === 0 || result.stderr.includes('permission denied')) return undefined;
  return lastLine(result.stderr) || 'it does not answer';
}

/** @param trouble what is wrong although the unit runs */
export function healthOf(
  unit: UnitState,
  trouble: string | undefined,
  gaps: readonly string[] = [],
): Pick<ServiceStatus, 'state' | 'reason'> {
  if (!unit.loaded) return { state: 'missing', reason: 'it has no unit: run bke init again' };
  if (unit.active === 'active') {
    if (trouble !== undefined) return { state: 'unhealthy', reason: trouble };
    return gaps.length === 0 ? { state: 'healthy' } : { state: 'incomplete', reason: shortened(gaps) };
  }
  // systemd restarts it for ever: between two tries it is 'activating (auto-restart)'.
  if (unit.active === 'activating' && unit.result === 'success') return { state: 'starting' };
  if (unit.active === 'inactive' && unit.result === 'success')
    return { state: 'stopped', reason: 'bke start starts it' };
  return { state: 'failed', reason: `${unit.result}, started again ${unit.restarts} times` };
}

export function sinceOf(unit: UnitState): { since?: string } {
  return unit.since === undefined ? {} : { since: unit.since.toISOString() };
}

/** A failure whose reason is that the program is gone says so. */
async function explained(
  host: Host,
  unit: string,
  health: Pick<ServiceStatus, 'state' | 'reason'>,
): Promise<Pick<ServiceStatus, 'state' | 'reason'>> {
  const notRun = health.state === 'failed' ? await programNotRun(host, unit) : undefined;
  if (notRun === undefined) return health;
  const why = notRun.there ? 'cannot be run' : 'is not there';
  return { ...health, reason: `${notRun.path} ${why}: bke init puts it back` };
}

function shortened([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first}, and ${others.length} more`;
}

/** Of the program that the unit runs: its folder has it. */
async function versionOf(host: Host, unit: string): Promise<string | undefined> {
  const text = (await host.files.read(`/etc/systemd/system/${unit}`))?.toString('utf8') ?? '';
  return /^ExecStart=\S*\/libexec\/bke\/[a-z]+-([^/\s]+)\//m.exec(text)?.[1];
}

/** Bytes on disk; undefined where there is no such directory, not all of it may be read, or it takes too long to count. */
export async function directorySize(host: Host, path: string): Promise<number | undefined> {
  if ((await host.files.stat(path)) === undefined) return undefined;
  const result = await host
    .run(['du', '-s', '-x', '--block-size=1', path], { timeoutMs: 20_000 })
    .catch(() => undefined);
  // What goes while it is counted makes du fail as well, but hardly the number wrong.
  if (result?.stderr.includes('Permission denied') === true) return undefined;
  const bytes = Number.parseInt(result?.stdout ?? '', 10);
  return Number.isNaN(bytes) ? undefined : bytes;
}
