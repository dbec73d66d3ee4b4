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

const place = { phase: 'services', step: 'services/registry', host: 'boot' } as const;
/** Of one host, with progress, a wait, a note and a failure. */
export const oneHost = events(
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
