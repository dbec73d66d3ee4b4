// A stream of events written down by hand: times are seconds after the start.
import type { EventBody, OperationEvent } from '../../src/api/events.ts';

export const began = Date.parse('2026-11-30T10:15:00.000Z');

export function events(...entries: readonly (readonly [seconds: number, body: EventBody])[]): OperationEvent[] {
  return entries.map(([seconds, body], i) => ({
    seq: i + 1,
    time: new Date(began + seconds * 1000).toISOString(),
    operation: '20261130-101500-init-ab12',
    ...body,
  }));
}

/** An operation of two phases on many hosts: those with a number divisible by `bad` fail, by `slow` wait. */
export function manyHosts(count: number, bad: number, slow: number): OperationEvent[] {
  const hosts = Array.from({ length: count }, (_, i) => `w${i + 1}`);
  const entries: (readonly [number, EventBody])[] = [
    [
      0,
      {
        type: 'operation.started',
        action: 'host.check',
        target: `${count} hosts`,
        hosts,
        dryRun: false,
        phases: [
          { id: 'reach', title: 'Reach the hosts' },
          { id: 'check', title: 'Check the hosts' },
        ],
      },
    ],
    [0, { type: 'phase.started', phase: 'reach', title: 'Reach the hosts', hosts }],
    ...hosts.map(
      (host) =>
        [
          1,
          { type: 'step.started', phase: 'reach', step: 'ssh', host, title: 'log in', attempt: 1, timeoutMs: 60_000 },
        ] as const,
    ),
  ];
  for (const [i, host] of hosts.entries()) {
    const place = { phase: 'reach', step: 'ssh', host };
    if ((i + 1) % bad === 0) {
      const error = { code: 'BKE_TIMEOUT', message: 'no answer from port 22', host } as const;
      entries.push([2, { type: 'step.failed', ...place, error, durationMs: 1000 }]);
    } else if ((i + 1) % slow === 0) {
      const since = new Date(began + 1000).toISOString();
      entries.push([
        2,
        {
          type: 'step.waiting',
          ...place,
          for: 'sshd',
          since,
          cause: 'connection refused',
          next: 'look at the console',
        },
      ]);
    } else entries.push([2, { type: 'step.finished', ...place, changed: false, found: 'done', durationMs: 1000 }]);
  }
  return events(...entries);
}
