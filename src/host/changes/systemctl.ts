// What bke asks of systemd, each with a bound: a service that does not stop must not hold up a reset for ever.
import { join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import { runChecked } from '../run-checked.ts';
import { unitFolder } from '../state/units.ts';

/** systemd itself gives up on a start or stop after 90 s unless the unit says otherwise. */
const jobTimeoutMs = 150_000;
const logLines = 10;

export interface UnitProperties {
  /** loaded, not-found, masked, bad-setting, … */
  readonly load: string;
  /** active, activating, deactivating, failed, inactive, … */
  readonly active: string;
  /** enabled, disabled, static, masked, …; empty where there is no file. */
  readonly enabled: string;
  /** The file on disk differs from what systemd has read. */
  readonly outOfDate: boolean;
}

export async function showUnit(host: Host, name: string): Promise<UnitProperties> {
  const properties = 'LoadState,ActiveState,UnitFileState,NeedDaemonReload';
  const { stdout } = await runChecked(host, ['systemctl', 'show', `--property=${properties}`, '--', name]);
  const value = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(stdout)?.[1] ?? '';
  return {
    load: value('LoadState'),
    active: value('ActiveState'),
    enabled: value('UnitFileState'),
    outOfDate: value('NeedDaemonReload') === 'yes',
  };
}

export function isUp(unit: UnitProperties): boolean {
  return unit.active !== 'inactive' && unit.active !== 'failed';
}

export async function systemctl(host: Host, verb: string, ...names: string[]): Promise<void> {
  const args = names.length === 0 ? [] : ['--', ...names];
  await runChecked(host, ['systemctl', '--quiet', verb, ...args], { timeoutMs: jobTimeoutMs });
}

/** Forgets a failure, so that it does not count and is not shown any more; a unit that is gone has none. */
export async function resetFailed(host: Host, name: string): Promise<void> {
  await host.run(['systemctl', 'reset-failed', '--', name]);
}

/** The unit's last log lines, for errors. */
export async function lastLog(host: Host, name: string): Promise<string[]> {
  const { stdout } = await host.run([
    'journalctl',
    '--no-pager',
    '--output=cat',
    `--lines=${logLines}`,
    `--unit=${name}`,
  ]);
  return stdout.split('\n').filter((line) => line !== '');
}

/** @throws BkeError BKE_COMMAND_FAILED with the unit's last log lines */
export async function startAnew(host: Host, name: string): Promise<void> {
  await resetFailed(host, name);
  try {
    await systemctl(host, 'restart', name);
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_COMMAND_FAILED') throw thrown;
    const details = [...thrown.details, ...(await lastLog(host, name))];
    throw new BkeError('BKE_COMMAND_FAILED', `${name} does not start`, {
      host: host.name,
      cause: thrown,
      details,
      hint: `See: journalctl -u ${name}`,
    });
  }
}

async function enablementFolders(host: Host): Promise<string[]> {
  const names = await host.files.list(unitFolder);
  return names.filter((name) => /\.(wants|requires)$/.test(name)).map((name) => join(unitFolder, name));
}

export async function emptyEnablementFolders(host: Host): Promise<string[]> {
  const empty: string[] = [];
  for (const path of await enablementFolders(host)) {
    if ((await host.files.list(path)).length === 0) empty.push(path);
  }
  return empty;
}

/** Links by which a unit is started with others; systemctl does not always take them away once the unit's file is gone. */
export async function removeEnablement(host: Host, name: string): Promise<void> {
  for (const folder of await enablementFolders(host)) {
    const path = join(folder, name);
    if ((await host.files.stat(path))?.type !== 'link') continue;
    const target = await host.files.readLink(path);
    if (target !== join(unitFolder, name) && target !== `../${name}`) continue;
    await host.files.remove(path);
    if ((await host.files.list(folder)).length === 0) await host.files.remove(folder);
  }
}
