import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EventBody, OperationEvent } from '../../../src/api/events.ts';
import { type FrameStyle, renderFrame } from '../../../src/cli/render/frame.ts';
import { renderPlan } from '../../../src/cli/render/plan.ts';
import { plainRenderer } from '../../../src/cli/render/plain.ts';
import { applyEvent, emptyView, type OperationView } from '../../../src/cli/render/state.ts';
import { terminalRenderer } from '../../../src/cli/render/terminal.ts';
import { createTheme } from '../../../src/cli/theme.ts';
import { textWidth } from '../../../src/lib/text.ts';
import { began, events, manyHosts } from '../../fakes/events.ts';

const theme = createTheme(false);

function viewOf(stream: readonly OperationEvent[]): OperationView {
  const view = emptyView();
  for (const event of stream) applyEvent(view, event);
  return view;
}

function style(seconds: number, more: Partial<FrameStyle> = {}): FrameStyle {
  return { now: began + seconds * 1000, columns: 100, rows: 24, theme, tick: 0, ...more };
}

const place = { phase: 'services', step: 'services/registry', host: 'boot' } as const;
const oneHost = events(
  [
    0,
    {
      type: 'operation.started',
      action: 'init',
      target: 'this host',
      hosts: ['boot'],
      dryRun: false,
      phases: [
        { id: 'check', title: 'Check this host' },
        { id: 'services', title: 'Start local services' },
        { id: 'proof', title: 'Prove it' },
      ],
    },
  ],
  [0, { type: 'phase.started', phase: 'check', title: 'Check this host', hosts: ['boot'] }],
  [
    0,
    {
      type: 'step.started',
      ...place,
      phase: 'check',
      step: 'preflight',
      title: 'look around',
      attempt: 1,
      timeoutMs: 60_000,
    },
  ],
  [2, { type: 'step.finished', ...place, phase: 'check', step: 'preflight', changed: false, durationMs: 2000 }],
  [2, { type: 'phase.finished', phase: 'check', outcome: 'done', durationMs: 2000 }],
  [2, { type: 'phase.started', phase: 'services', title: 'Start local services', hosts: ['boot'] }],
  [2, { type: 'step.started', ...place, title: 'start the registry', attempt: 1, timeoutMs: 300_000 }],
  [
    3,
    {
      type: 'step.progress',
      ...place,
      message: 'push images',
      done: 512 * 1024 * 1024,
      total: 1024 ** 3,
      unit: 'bytes',
    },
  ],
  [
    5,
    {
      type: 'step.waiting',
      ...place,
      for: 'the registry to answer',
      since: new Date(began + 3000).toISOString(),
      cause: 'connection\nrefused\u001B[2J',
      next: 'journalctl -u bke-registry',
    },
  ],
  [9, { type: 'note', level: 'warning', message: 'the clock is 3 s off', host: 'boot' }],
  [
    12,
    {
      type: 'step.failed',
      ...place,
      error: { code: 'BKE_TIMEOUT', message: 'waited 9s for the registry', host: 'boot' },
      durationMs: 10_000,
    },
  ],
  [12, { type: 'phase.finished', phase: 'services', outcome: 'failed', durationMs: 10_000 }],
  [
    12,
    {
      type: 'operation.finished',
      outcome: 'failed',
      changed: true,
      hosts: [{ host: 'boot', state: 'failed', changed: true }],
      next: ['bke init'],
      durationMs: 12_000,
    },
  ],
);

describe('the frame on a terminal', () => {
  it('has one line per phase, with the step of a single host', () => {
    expect(renderFrame(viewOf(oneHost.slice(0, 3)), style(1))).toEqual(['⠋ Check this host  look around…  1.0s']);
    expect(renderFrame(viewOf(oneHost.slice(0, 8)), style(4))).toEqual([
      '✓ Check this host  2.0s',
      '⠋ Start local services  start the registry…  2.0s',
      '    push images, 50% (512 MiB of 1.0 GiB)',
    ]);
  });

  it('says what is waited for, since when, why, and what to do', () => {
    const view = viewOf(oneHost.slice(0, 9));
    expect(renderFrame(view, style(8, { columns: 120 })).at(-1)).toBe(
      '    waiting 5.0s for the registry to answer: connection refused\\x1b[2J; see: journalctl -u bke-registry',
    );
    expect(renderFrame(view, style(8, { columns: 80 })).slice(-2)).toEqual([
      '    waiting 5.0s for the registry to answer: connection refused\\x1b[2J',
      '      see: journalctl -u bke-registry',
    ]);
  });

  it('keeps failures', () => {
    expect(renderFrame(viewOf(oneHost), style(20))).toEqual([
      '✓ Check this host  2.0s',
      '✗ Start local services  10s',
      '    ✗ start the registry: error[BKE_TIMEOUT] waited 9s for the registry',
    ]);
  });

  it('counts hosts that were stopped apart from those that failed', () => {
    const hosts = ['a', 'b'];
    const at = (host: string) => ({ phase: 'p', step: 's', host });
    const begin = hosts.map(
      (host) => [0, { type: 'step.started', ...at(host), title: 't', attempt: 1, timeoutMs: 1 }] as const,
    );
    const error = { code: 'BKE_CANCELLED', message: 'stopped' } as const;
    const view = viewOf(
      events(
        [0, { type: 'phase.started', phase: 'p', title: 'P', hosts }],
        ...begin,
        [1, { type: 'step.finished', ...at('a'), changed: true, durationMs: 1000 }],
        [1, { type: 'step.failed', ...at('b'), error, durationMs: 1000 }],
        [1, { type: 'phase.finished', phase: 'p', outcome: 'cancelled', durationMs: 1000 }],
      ),
    );
    expect(renderFrame(view, style(2))).toEqual(['■ P  1/2 hosts, 1 stopped  1.0s']);
  });

  it('says a title that phase and step share once', () => {
    const stream = oneHost
      .slice(0, 3)
      .map((event) => (event.type === 'step.started' ? { ...event, title: 'Check this host' } : event));
    expect(renderFrame(viewOf(stream), style(1))).toEqual(['⠋ Check this host  1.0s']);
  });

  it('counts 1000 hosts and names only some that failed or wait', () => {
    expect(renderFrame(viewOf(manyHosts(1000, 100, 7)), style(65))).toEqual([
      '⠋ Reach the hosts  849/1000 hosts, 10 failed  1m05s',
      '    ✗ w100: log in: error[BKE_TIMEOUT] no answer from port 22',
      '    ✗ w200: log in: error[BKE_TIMEOUT] no answer from port 22',
      '    ✗ w300: log in: error[BKE_TIMEOUT] no answer from port 22',
      '    ✗ w400: log in: error[BKE_TIMEOUT] no answer from port 22',
      '    ✗ w500: log in: error[BKE_TIMEOUT] no answer from port 22',
      '    and 5 more failed',
      '    w7: waiting 1m04s for sshd: connection refused; see: look at the console',
      '    w14: waiting 1m04s for sshd: connection refused; see: look at the console',
      '    w21: waiting 1m04s for sshd: connection refused; see: look at the console',
      '    w28: waiting 1m04s for sshd: connection refused; see: look at the console',
      '    w35: waiting 1m04s for sshd: connection refused; see: look at the console',
      '    and 136 more at work',
    ]);
  });

  it('never is taller or wider than the terminal', () => {
    const view = viewOf(manyHosts(1000, 10, 3));
    for (let i = 0; i < 30; i += 1)
      view.phases.push({
        ...structuredClone(view.phases[0] ?? emptyPhase()),
        id: `p${i}`,
        state: i < 25 ? 'done' : 'running',
      });
    for (const rows of [3, 4, 6, 10, 24, 50]) {
      for (const columns of [20, 40, 80, 200]) {
        const frame = renderFrame(view, style(90, { rows, columns }));
        expect(frame.length).toBeLessThanOrEqual(Math.max(3, rows - 1));
        expect(Math.max(...frame.map(textWidth))).toBeLessThan(columns);
      }
    }
  });

  it('takes little time for 1000 hosts', () => {
    const stream = manyHosts(1000, 10, 3);
    const start = performance.now();
    const view = viewOf(stream);
    for (let i = 0; i < 10; i += 1) renderFrame(view, style(90));
    expect(performance.now() - start).toBeLessThan(500);
  });
});

function emptyPhase(): OperationView['phases'][number] {
  return {
    id: '',
    title: '',
    state: 'pending',
    since: 0,
    durationMs: 0,
    hosts: 0,
    active: new Map(),
    failed: [],
    stopped: 0,
    seen: new Set(),
  };
}

function kept(): { write(text: string): unknown; text(): string; columns: number; rows: number; isTTY: boolean } {
  const parts: string[] = [];
  return { write: (text) => parts.push(text), text: () => parts.join(''), columns: 80, rows: 24, isTTY: true };
}

describe('the terminal renderer', () => {
  it('draws over its own lines, keeps notes above them, and gives the cursor back', () => {
    const stream = kept();
    const renderer = terminalRenderer({ stream, theme, now: () => new Date(began + 20_000) });
    for (const event of oneHost) renderer.handle(event);
    renderer.close();
    const text = stream.text();
    expect(text.startsWith('\u001B[?25l')).toBe(true);
    expect(text).toContain('\u001B[Jwarning: the clock is 3 s off\n');
    expect(text.indexOf('\u001B[?25h')).toBeGreaterThan(text.indexOf('✗ Start local services'));
    expect(
      text.endsWith(
        'init of this host FAILED after 12s\ndetails: bke operation show 20261130-101500-init-ab12\nnext:\n  bke init\n',
      ),
    ).toBe(true);
  });

  it('takes a terminal that says it is 0 wide for one of 80', () => {
    const stream = { ...kept(), columns: 0, rows: 0 };
    const renderer = terminalRenderer({ stream, theme, now: () => new Date(began) });
    for (const event of oneHost.slice(0, 5)) renderer.handle(event);
    renderer.close();
    expect(stream.text()).toContain('✓ Check this host  2.0s');
  });

  it('gives the cursor back also when the operation never told its end', () => {
    const stream = kept();
    const renderer = terminalRenderer({ stream, theme, now: () => new Date(began) });
    for (const event of oneHost.slice(0, 4)) renderer.handle(event);
    renderer.close();
    expect(stream.text().endsWith('\u001B[?25h')).toBe(true);
  });
});

describe('the plain renderer', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function plain(verbosity: number): string[] {
    const stream = kept();
    const renderer = plainRenderer({ stream, now: () => new Date(began), verbosity });
    for (const event of oneHost) renderer.handle(event);
    renderer.close();
    return stream.text().split('\n').slice(0, -1);
  }

  it('has one line with the time for each event', () => {
    expect(plain(0)).toEqual([
      '2026-11-30T10:15:00Z init of this host, operation 20261130-101500-init-ab12',
      '2026-11-30T10:15:00Z == Check this host',
      '2026-11-30T10:15:02Z look around: nothing to do after 2.0s',
      '2026-11-30T10:15:02Z == Check this host: done after 2.0s',
      '2026-11-30T10:15:02Z == Start local services',
      '2026-11-30T10:15:05Z start the registry: waiting 2.0s for the registry to answer: connection refused\\x1b[2J; see: journalctl -u bke-registry',
      '2026-11-30T10:15:09Z warning: the clock is 3 s off',
      '2026-11-30T10:15:12Z start the registry: FAILED after 10s: error[BKE_TIMEOUT] waited 9s for the registry',
      '2026-11-30T10:15:12Z == Start local services: FAILED after 10s',
      '2026-11-30T10:15:12Z init of this host FAILED after 12s',
      '2026-11-30T10:15:12Z details: bke operation show 20261130-101500-init-ab12',
      '2026-11-30T10:15:12Z next:',
      '2026-11-30T10:15:12Z   bke init',
    ]);
  });

  it('says of a bundle that was verified that it is whole', () => {
    const stream = kept();
    const renderer = plainRenderer({ stream, now: () => new Date(began), verbosity: 0 });
    const place = { phase: 'bundle', step: 'bundle/verify' };
    const verified = events(
      [
        0,
        {
          type: 'operation.started',
          action: 'bundle.verify',
          target: 'b.tar',
          hosts: [],
          dryRun: false,
          phases: [{ id: 'bundle', title: 'Verify b.tar' }],
        },
      ],
      [0, { type: 'step.started', ...place, title: 'Verify b.tar', attempt: 1, timeoutMs: 1000 }],
      [2, { type: 'step.finished', ...place, changed: false, found: 'whole', durationMs: 2000 }],
      [2, { type: 'operation.finished', outcome: 'done', changed: false, hosts: [], next: [], durationMs: 2000 }],
    );
    for (const event of verified) renderer.handle(event);
    renderer.close();
    const lines = stream
      .text()
      .split('\n')
      .map((line) => line.slice(21));
    expect(lines.slice(1)).toEqual(['Verify b.tar: whole after 2.0s', 'b.tar is whole, after 2.0s', '']);
  });

  it('tells of a long wait ever more rarely, and only once what to do meanwhile', () => {
    const stream = kept();
    const renderer = plainRenderer({ stream, now: () => new Date(began), verbosity: 0 });
    const since = new Date(began).toISOString();
    const wait = (at: number): [number, EventBody] => [
      at,
      { type: 'step.waiting', ...place, for: 'etcd', since, cause: `try ${at}`, next: 'look' },
    ];
    const waits = events(...[2, 4, 6, 8, 16, 20, 40].map(wait));
    for (const event of waits) renderer.handle(event);
    renderer.close();
    expect(stream.text().match(/waiting.*/g)).toEqual([
      'waiting 2.0s for etcd: try 2; see: look',
      'waiting 8.0s for etcd: try 8',
      'waiting 20s for etcd: try 20',
      'waiting 40s for etcd: try 40',
    ]);
  });

  it('tells more with -v and -vv', () => {
    expect(plain(1)).toContain('2026-11-30T10:15:02Z start the registry: begins, at most 5m00s');
    expect(plain(1).join('\n')).not.toContain('push images');
    expect(plain(2)).toContain('2026-11-30T10:15:03Z start the registry: push images, 50% (512 MiB of 1.0 GiB)');
  });

  it('says commands of two words as people type them, and hosts where there are several', () => {
    const stream = kept();
    const renderer = plainRenderer({ stream, now: () => new Date(began), verbosity: 0 });
    for (const event of manyHosts(2, 2, 3)) renderer.handle(event);
    renderer.close();
    expect(stream.text().split('\n').slice(0, -1)).toEqual([
      '2026-11-30T10:15:00Z host check of 2 hosts, operation 20261130-101500-init-ab12',
      '2026-11-30T10:15:00Z == Reach the hosts on 2 hosts',
      '2026-11-30T10:15:02Z w1: log in: done after 1.0s',
      '2026-11-30T10:15:02Z w2: log in: FAILED after 1.0s: error[BKE_TIMEOUT] no answer from port 22',
    ]);
  });

  it('gives a sign of life every 30 s while nothing happens', () => {
    vi.useFakeTimers({ now: began });
    const stream = kept();
    const renderer = plainRenderer({ stream, now: () => new Date(), verbosity: 0 });
    for (const event of oneHost.slice(0, 8)) renderer.handle(event);
    const before = stream.text();
    vi.advanceTimersByTime(65_000);
    expect(stream.text().slice(before.length)).toBe(
      [
        '2026-11-30T10:15:30Z still running: start the registry for 28s, push images, 50% (512 MiB of 1.0 GiB)',
        '2026-11-30T10:16:00Z still running: start the registry for 58s, push images, 50% (512 MiB of 1.0 GiB)',
        '',
      ].join('\n'),
    );
    renderer.close();
    vi.advanceTimersByTime(120_000);
    expect(stream.text()).not.toContain('10:16:30');
  });
});

describe('the plan of a dry run', () => {
  const planned = (host: string | undefined, action: 'create' | 'change' | 'remove' | 'run' | 'keep', what: string) =>
    events([
      0,
      { type: 'step.planned', phase: 'p', step: 's', ...(host === undefined ? {} : { host }), action, what },
    ]).flatMap((event) => (event.type === 'step.planned' ? [event] : []));

  it('lists what would be done on each host, equal hosts together', () => {
    const plan = ['w1', 'w2', 'w3'].flatMap((host) => [
      ...planned(host, 'create', 'file /etc/bke/a'),
      ...planned(host, 'change', `unit ${host === 'w3' ? 'other' : 'x'}.service`),
      ...planned(host, 'run', 'push 12 images to the registry'),
      ...planned(host, 'keep', 'file /etc/hosts'),
      ...planned(host, 'remove', 'directory /var/lib/bke\u001B[2J'),
    ]);
    expect(renderPlan(plan, theme, 0)).toBe(
      [
        'Plan for w1, w2 (2 hosts):',
        '  + create file /etc/bke/a',
        '  ~ change unit x.service',
        '  > push 12 images to the registry',
        '  - remove directory /var/lib/bke\\x1b[2J',
        '  1 to create, 1 to change, 1 to remove and 1 to run; 1 stays as it is',
        '',
        'Plan for w3:',
        '  + create file /etc/bke/a',
        '  ~ change unit other.service',
        '  > push 12 images to the registry',
        '  - remove directory /var/lib/bke\\x1b[2J',
        '  1 to create, 1 to change, 1 to remove and 1 to run; 1 stays as it is',
        '',
      ].join('\n'),
    );
  });

  it('says so where there is nothing to do, and shows what stays with -v', () => {
    const keep = planned(undefined, 'keep', 'file /etc/hosts');
    expect(renderPlan(keep, theme, 0)).toBe('Plan: nothing to do, everything is as it should be.\n');
    expect(renderPlan([...keep, ...planned(undefined, 'run', 'x')], theme, 1)).toContain('  = keep file /etc/hosts\n');
  });
});
