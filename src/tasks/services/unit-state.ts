// What systemd says about a unit.
import type { Host } from '../../host/host.ts';

export interface UnitState {
  /** false: systemd knows no such unit. */
  readonly loaded: boolean;
  readonly enabled: boolean;
  /** active, inactive, failed, activating, … */
  readonly active: string;
  /** success, exit-code, timeout, … */
  readonly result: string;
  /** When it became what it is; undefined where it never was anything. */
  readonly since: Date | undefined;
  /** How often systemd started it again by itself. */
  readonly restarts: number;
}

const properties = ['LoadState', 'UnitFileState', 'ActiveState', 'Result', 'StateChangeTimestamp', 'NRestarts'];

export async function readUnitState(host: Host, unit: string): Promise<UnitState> {
  const argv: [string, ...string[]] = ['systemctl', 'show', unit, `--property=${properties.join(',')}`];
  // The time stamps are in the zone of the host unless told.
  const result = await host.run(argv, { timeoutMs: 15_000, env: { TZ: 'UTC' } });
  const values = new Map(
    result.stdout.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const value = (name: string): string => values.get(name) ?? '';
  return {
    loaded: value('LoadState') === 'loaded',
    enabled: value('UnitFileState') === 'enabled',
    active: value('ActiveState') || 'unknown',
    result: value('Result') || 'unknown',
    since: parseTimestamp(value('StateChangeTimestamp')),
    restarts: Number(value('NRestarts')) || 0,
  };
}

/** systemd's form in UTC: `Mon 2026-11-30 09:26:34 UTC`. */
export function parseTimestamp(text: string): Date | undefined {
  const match = /^\w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/.exec(text.trim());
  return match === null ? undefined : new Date(`${match[1]}T${match[2]}Z`);
}
