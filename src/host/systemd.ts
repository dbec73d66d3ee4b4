// systemd of a host: what it says of units and what it is told to do, each with a bound: a service that does not stop must not hold up a reset for ever.
import { join } from 'node:path';
import { BkeError } from '../lib/errors.ts';
import type { Host, RunResult } from './host.ts';
import { runBounded } from './state/bounded.ts';
import { findProgram, programOutput } from './state/program.ts';
import { runChecked } from './run-checked.ts';

export const unitFolder = '/etc/systemd/system';

/** systemd itself gives up on a start or stop after 90 s unless the unit says otherwise. */
const jobTimeoutMs = 150_000;
const showTimeoutMs = 15_000;
const syncTimeoutMs = 10_000;
const logLines = 10;

export interface UnitState {
  readonly name: string;
  /** `loaded`, `not-found`, `masked`, `bad-setting`, … */
  readonly load: string;
  /** `active`, `inactive`, `failed`, `activating`, … */
  readonly active: string;
  /** `enabled`, `disabled`, `static`, `masked`, …; empty where there is no file. */
  readonly enabled: string;
  /** The file on disk differs from what systemd has read. */
  readonly outOfDate: boolean;
  /** `success`, `exit-code`, `timeout`, … */
  readonly result: string;
  /** When it became what it is; undefined where it never was anything. */
  readonly since: Date | undefined;
  /** How often systemd started it again by itself. */
  readonly restarts: number;
}

const properties = [
  'Id',
  'LoadState',
  'ActiveState',
  'UnitFileState',
  'NeedDaemonReload',
  'Result',
  'StateChangeTimestamp',
  'NRestarts',
];
const show = ['systemctl', 'show', `--property=${properties.join(',')}`, '--'] as const;
/** Time stamps are in the zone of the host unless told. */
const utc = { TZ: 'UTC' };

/** systemd's form in UTC: `Mon 2026-11-30 09:26:34 UTC`. */
export function parseTimestamp(text: string): Date | undefined {
  const match = /^\w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/.exec(text.trim());
  return match === null ? undefined : new Date(`${match[1]}T${match[2]}Z`);
}

function parseUnit(block: string): UnitState {
  const values = new Map(block.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
  const value = (name: string): string => values.get(name) ?? '';
  return {
    name: value('Id'),
    load: value('LoadState'),
    active: value('ActiveState') || 'inactive',
    enabled: value('UnitFileState'),
    outOfDate: value('NeedDaemonReload') === 'yes',
    result: value('Result') || 'unknown',
    since: parseTimestamp(value('StateChangeTimestamp')),
    restarts: Number(value('NRestarts')) || 0,
  };
}

/** Parses `systemctl show` of several units; those that neither have a file nor run are left out. */
export function parseUnits(text: string): UnitState[] {
  return text
    .split('\n\n')
    .map(parseUnit)
    .filter(({ name, load, active }) => name !== '' && (load !== 'not-found' || active !== 'inactive'));
}

/** Those of the units that systemd knows; none where systemd doesn't run. */
export async function readUnits(host: Host, names: readonly string[]): Promise<UnitState[]> {
  return parseUnits((await programOutput(host, [...show, ...names], { env: utc })) ?? '');
}

/** @throws BkeError BKE_COMMAND_FAILED where systemd does not answer. */
export async function readUnit(host: Host, name: string): Promise<UnitState> {
  const { stdout } = await runChecked(host, [...show, name], { timeoutMs: showTimeoutMs, env: utc });
  return { ...parseUnit(stdout), name };
}

export function isUp(unit: Pick<UnitState, 'active'>): boolean {
  return unit.active !== 'inactive' && unit.active !== 'failed';
}

/** @throws BkeError BKE_COMMAND_FAILED */
export async function systemctl(host: Host, verb: string, ...names: string[]): Promise<void> {
  const args = names.length === 0 ? [] : ['--', ...names];
  await runChecked(host, ['systemctl', '--quiet', verb, ...args], { timeoutMs: jobTimeoutMs });
}

/** For clean-up, which goes on whatever systemd answers; undefined where the host has no systemd. */
export async function trySystemctl(
  host: Host,
  words: readonly string[],
  timeoutMs: number,
): Promise<RunResult | undefined> {
  const program = await findProgram(host, 'systemctl');
  return program === undefined ? undefined : runBounded(host, [program, ...words], { timeoutMs });
}

/** Forgets a failure, so that it does not count and is not shown any more; a unit that is gone has none. */
export async function resetFailed(host: Host, name: string): Promise<void> {
  await host.run(['systemctl', 'reset-failed', '--', name]);
}

/**
 * The unit's last log lines, for errors. On a busy host journald is behind with what a program said before it died, so it is waited for:
 * `journalctl --sync` returns when all that came so far is written.
 */
export async function lastLog(
  host: Host,
  name: string,
  { lines = logLines, ...bounds }: { readonly lines?: number; readonly timeoutMs?: number } = {},
): Promise<string[]> {
  const options = ['--no-pager', '--output=cat', `--lines=${lines}`, `--unit=${name}`];
  await runBounded(host, ['journalctl', '--sync'], { timeoutMs: syncTimeoutMs });
  const { stdout } = await host.run(['journalctl', ...options], bounds);
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
