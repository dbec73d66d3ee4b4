// As much of systemctl and crictl as tasks ask of them, for hosts that are directories.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '../../../src/host/host.ts';
import type { FakePrograms } from './rooted.ts';

export interface FakeSystemd {
  readonly programs: FakePrograms;
  /** `restart bke-registry.service` and the like, in order. */
  readonly calls: string[];
}

const done: RunResult = { exitCode: 0, stdout: '', stderr: '' };

export function fakeSystemd(root: () => string): FakeSystemd {
  const active = new Set<string>();
  const enabled = new Set<string>();
  const calls: string[] = [];
  const verbs: Readonly<Record<string, (unit: string) => unknown>> = {
    restart: (unit) => active.add(unit),
    start: (unit) => active.add(unit),
    stop: (unit) => active.delete(unit),
    enable: (unit) => enabled.add(unit),
    disable: (unit) => enabled.delete(unit),
  };
  const show = (unit: string): RunResult => {
    const loaded = existsSync(join(root(), 'etc/systemd/system', unit));
    const lines = [
      `LoadState=${loaded ? 'loaded' : 'not-found'}`,
      `ActiveState=${active.has(unit) ? 'active' : 'inactive'}`,
      `UnitFileState=${loaded ? (enabled.has(unit) ? 'enabled' : 'disabled') : ''}`,
      'NeedDaemonReload=no',
      'Result=success',
      'NRestarts=0',
    ];
    return { ...done, stdout: `${lines.join('\n')}\n` };
  };
  return {
    calls,
    programs: (argv) => {
      if (argv[0] !== 'systemctl') return { ...done, exitCode: argv[0]?.endsWith('crictl') === true ? 0 : 127 };
      const [verb = '', ...rest] = argv
        .slice(1)
        .filter((word) => word !== '--' && word !== '--quiet' && !word.startsWith('--property'));
      const unit = rest[0] ?? '';
      if (verb === 'show') return show(unit);
      calls.push(`${verb} ${unit}`.trim());
      verbs[verb]?.(unit);
      return done;
    },
  };
}
