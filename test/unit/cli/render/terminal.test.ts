// Progress on a terminal: the frame, and how it is drawn.
import { describe, expect, it } from 'vitest';
import type { OperationEvent } from '../../../../src/api/events.ts';
import { type FrameStyle, renderFrame } from '../../../../src/cli/render/frame.ts';
import { applyEvent, emptyView, newPhase, type OperationView } from '../../../../src/cli/render/state.ts';
import { terminalRenderer } from '../../../../src/cli/render/terminal.ts';
import { createTheme } from '../../../../src/cli/theme.ts';
import { textWidth } from '../../../../src/lib/text.ts';
import { began, events, manyHosts, oneHost } from '../../../fakes/events.ts';
import { keptStream } from '../../../fakes/kept-stream.ts';

const theme = createTheme(false);

function viewOf(stream: readonly OperationEvent[]): OperationView {
  const view = emptyView();
  for (const event of stream) applyEvent(view, event);
  return view;
}

function style(seconds: number, more: Partial<FrameStyle> = {}): FrameStyle {
  return { now: began + seconds * 1000, columns: 100, rows: 24, theme, tick: 0, ...more };
}

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
        ...structuredClone(view.phases[0] ?? newPhase('', '')),
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

describe('the terminal renderer', () => {
  it('draws over its own lines, keeps notes above them, and gives the cursor back', () => {
    const stream = keptStream();
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
    const stream = { ...keptStream(), columns: 0, rows: 0 };
    const renderer = terminalRenderer({ stream, theme, now: () => new Date(began) });
    for (const event of oneHost.slice(0, 5)) renderer.handle(event);
    renderer.close();
    expect(stream.text()).toContain('✓ Check this host  2.0s');
  });

  it('gives the cursor back also when the operation never told its end', () => {
    const stream = keptStream();
    const renderer = terminalRenderer({ stream, theme, now: () => new Date(began) });
    for (const event of oneHost.slice(0, 4)) renderer.handle(event);
    renderer.close();
    expect(stream.text().endsWith('\u001B[?25h')).toBe(true);
  });
});
