// Progress as lines, for logs and CI.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EventBody } from '../../../../src/api/events.ts';
import { plainRenderer } from '../../../../src/cli/render/plain.ts';
import { began, events, manyHosts, oneHost } from '../../../fakes/events.ts';
import { keptStream } from '../../../fakes/kept-stream.ts';

describe('the plain renderer', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function plain(verbosity: number): string[] {
    const stream = keptStream();
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
    const stream = keptStream();
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
    const stream = keptStream();
    const renderer = plainRenderer({ stream, now: () => new Date(began), verbosity: 0 });
    const since = new Date(began).toISOString();
    const wait = (at: number): [number, EventBody] => [
      at,
      {
        type: 'step.waiting',
        phase: 'services',
        step: 'services/registry',
        host: 'boot',
        for: 'etcd',
        since,
        cause: `try ${at}`,
        next: 'look',
      },
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
    const stream = keptStream();
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
    const stream = keptStream();
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
