// What a host that leaves is asked to do, by a real shell in a folder of its own.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { leaveScript } from '../../../../src/controllers/bkehost/leave.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

interface Left {
  readonly said: string;
  readonly errors: string;
  readonly code: number;
  /** Copies of bke beside its state. */
  readonly copies: readonly string[];
}

interface Given {
  /** What the agent there was told. */
  readonly config?: object;
  /** systemd-run; default: ends well and has run nothing. */
  readonly systemdRun?: string;
  readonly cp?: string;
}

/** @returns what is said of a host with these programs and files */
function leaving(paths: readonly string[], { config, systemdRun = '#!/bin/sh\n', cp }: Given = {}): Left {
  const root = mkdtempSync(join(tmpdir(), 'bke-leave-'));
  roots.push(root);
  mkdirSync(join(root, 'var/lib'), { recursive: true });
  for (const path of ['/bin/systemd-run', ...paths]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '#!/bin/sh\n');
    chmodSync(join(root, path), 0o755);
  }
  writeFileSync(join(root, '/bin/systemd-run'), systemdRun);
  if (cp !== undefined) writeFileSync(join(root, '/bin/cp'), cp, { mode: 0o755 });
  if (config !== undefined) {
    mkdirSync(join(root, 'var/lib/bke/agent'), { recursive: true });
    writeFileSync(join(root, 'var/lib/bke/agent/config.json'), JSON.stringify({ settings: config }, undefined, 2));
  }
  const script = leaveScript.replaceAll(/\/(?=var\/lib|usr\/local|etc\/systemd)/g, `${root}/`);
  const env = { PATH: `${root}/bin:/usr/bin:/bin` };
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', script, 'bke-leave', 'bke', 'w1'], {
    env,
    encoding: 'utf8',
  });
  const copies = readdirSync(join(root, 'var/lib')).filter((name) => name.startsWith('bke-'));
  return { said: stdout.trim(), errors: stderr, code: status ?? -1, copies };
}

const program = '/usr/local/bin/bke';
const unit = '/etc/systemd/system/bke-agent.service';

it('has nothing to do only where neither bke, nor its state, nor its agent is', () => {
  expect(leaving([])).toMatchObject({ said: 'nothing', code: 0 });
  expect(leaving([program, unit, '/var/lib/bke/ledger'])).toMatchObject({ said: 'clean', code: 0 });
});

it('resets a host whose state is lost', () => {
  expect(leaving([program, unit])).toMatchObject({ said: 'clean', code: 0 });
});

it('does not call a host clean whose agent is there and whose bke is lost', () => {
  const { said, errors, code } = leaving([unit]);
  expect({ said, code }).toEqual({ said: '', code: 1 });
  expect(errors).toContain('bke is not on this host any more');
});

it('leaves a machine alone whose agent is that of another BKEHost', () => {
  const there = [program, unit];
  expect(leaving(there, { config: { namespace: 'bke', host: 'w1' } })).toMatchObject({ said: 'clean', code: 0 });
  expect(leaving(there, { config: { namespace: 'bke', host: 'w10' } })).toMatchObject({ said: 'others', code: 0 });
  expect(leaving(there, { config: { namespace: 'lab', host: 'w1' } })).toMatchObject({ said: 'others', code: 0 });
});

it('leaves no copy of bke behind, whatever an earlier attempt left', () => {
  const left = '/var/lib/bke-leaving';
  // The program of this host does nothing and ends well.
  const running = { systemdRun: '#!/bin/sh\nwhile [ "$1" != /bin/sh ]; do shift; done; exec "$@"\n' };
  expect(leaving([left])).toMatchObject({ said: 'nothing', copies: [] });
  expect(leaving([left, program, unit], running)).toMatchObject({ said: 'clean', copies: [] });
  const others = { config: { namespace: 'lab', host: 'w1' } };
  expect(leaving([left, program, unit], others)).toMatchObject({ said: 'others', copies: ['bke-leaving'] });
});

it('takes its copy away where it cannot be made whole, or the reset cannot be started', () => {
  const refusing = { systemdRun: '#!/bin/sh\necho no bus >&2; exit 1\n' };
  const { said, errors, code, copies } = leaving([program, unit], refusing);
  expect({ said, code, copies }).toEqual({ said: '', code: 1, copies: [] });
  expect(errors).toContain('no bus');
  const full = { systemdRun: '#!/bin/sh\n', cp: '#!/bin/sh\nhead -c 9 "$3" > "$4"; echo disk full >&2; exit 1\n' };
  expect(leaving([program, unit], full)).toMatchObject({ said: '', code: 1, copies: [] });
});
