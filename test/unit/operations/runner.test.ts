import { describe, expect, it } from 'vitest';
import type { OperationEvent } from '../../../src/api/events.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import type { Phase, StepBinding } from '../../../src/operations/operation.ts';
import { pause, record, step } from '../../fakes/operation.ts';

function types(events: readonly OperationEvent[]): string[] {
  return events.map((event) => {
    const place = 'step' in event ? `:${event.host ?? ''}/${event.step}` : 'phase' in event ? `:${event.phase}` : '';
    return event.type + place;
  });
}

describe('runOperation', () => {
  it('tells every beginning and end, numbered from 1', async () => {
    const { result, events } = await record([
      {
        id: 'one',
        title: 'One',
        chains: [{ host: 'a', steps: [step('s1'), step('s2', async (scope) => scope.changed())] }],
      },
    ]);
    expect(types(events)).toEqual([
      'operation.started',
      'phase.started:one',
      'step.started:a/s1',
      'step.finished:a/s1',
      'step.started:a/s2',
      'step.finished:a/s2',
      'phase.finished:one',
      'operation.finished',
    ]);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(result).toMatchObject({
      outcome: 'done',
      changed: true,
      hosts: [{ host: 'a', state: 'done', phase: 'one', step: 's2', changed: true }],
      errors: [],
    });
  });

  it('says that nothing changed where no step changed anything', async () => {
    const { result, events } = await record([{ id: 'one', title: 'One', chains: [{ steps: [step('s1')] }] }]);
    expect(result.changed).toBe(false);
    expect(events.find((event) => event.type === 'step.finished')).toMatchObject({ changed: false });
  });

  it('lets hosts overtake each other between phases, but not at a barrier', async () => {
    const order: string[] = [];
    const chain = (host: string, name: string, ms: number) => ({
      host,
      steps: [
        step(name, async () => {
          await pause(ms);
          order.push(`${host}/${name}`);
        }),
      ],
    });
    const phases: Phase<StepBinding>[] = [
      { id: 'p1', title: 'P1', chains: [chain('slow', 'x', 400), chain('fast', 'x', 1)] },
      { id: 'p2', title: 'P2', chains: [chain('slow', 'y', 1), chain('fast', 'y', 1)] },
      { id: 'p3', title: 'P3', barrier: true, chains: [chain('slow', 'z', 1), chain('fast', 'z', 200)] },
    ];
    await record(phases);
    expect(order).toEqual(['fast/x', 'fast/y', 'slow/x', 'slow/y', 'slow/z', 'fast/z']);
  });

  it('goes on with the other hosts when one fails, and tells the error with its host', async () => {
    const { result, events } = await record([
      {
        id: 'p1',
        title: 'P1',
        chains: [
          { host: 'bad', steps: [step('x', async () => Promise.reject(new BkeError('BKE_COMMAND_FAILED', 'no')))] },
          { host: 'good', steps: [step('x')] },
        ],
      },
      {
        id: 'p2',
        title: 'P2',
        barrier: true,
        chains: [
          { host: 'bad', steps: [step('y')] },
          { host: 'good', steps: [step('y')] },
        ],
      },
    ]);
    expect(result.outcome).toBe('failed');
    expect(result.hosts).toMatchObject([
      { host: 'bad', state: 'failed', step: 'x', error: { code: 'BKE_COMMAND_FAILED', host: 'bad' } },
      { host: 'good', state: 'done', step: 'y' },
    ]);
    expect(types(events)).not.toContain('step.started:bad/y');
    expect(events.find((event) => event.type === 'phase.started' && event.phase === 'p2')).toMatchObject({
      hosts: ['good'],
    });
    expect(events.at(-1)).toMatchObject({ outcome: 'failed', error: { message: 'no', host: 'bad' } });
  });

  it('starts nothing more on any host after a failure in a phase that says so', async () => {
    const { result, events } = await record([
      {
        id: 'p1',
        title: 'P1',
        stopOnFailure: true,
        chains: [
          { host: 'bad', steps: [step('x', async () => Promise.reject(new Error('boom')))] },
          { host: 'good', steps: [step('x', async () => pause(20)), step('y')] },
        ],
      },
      { id: 'p2', title: 'P2', chains: [{ host: 'good', steps: [step('z')] }] },
    ]);
    expect(types(events)).not.toContain('step.started:good/y');
    expect(result.outcome).toBe('failed');
    expect(result.hosts.map(({ state }) => state)).toEqual(['failed', 'stopped']);
  });

  it('ends a step whose time is over, with what it waited for', async () => {
    const { result } = await record([
      {
        id: 'p1',
        title: 'P1',
        chains: [
          {
            host: 'a',
            steps: [
              step(
                'x',
                async (scope) => {
                  scope.waitsFor({
                    for: 'the registry to answer',
                    cause: 'connection refused',
                    next: 'journalctl -u bke-registry',
                  });
                  await pause(5000, scope.signal);
                },
                20,
              ),
            ],
          },
        ],
      },
    ]);
    expect(result.errors[0]).toMatchObject({
      code: 'BKE_TIMEOUT',
      host: 'a',
      message: "'do x' did not end within 0.0s; it was waiting for the registry to answer: connection refused",
      hint: 'journalctl -u bke-registry',
    });
  });

  it('gives a step up that does not heed its signal', async () => {
    const began = Date.now();
    const { result, events } = await record(
      [
        {
          id: 'p1',
          title: 'P1',
          chains: [
            {
              host: 'a',
              steps: [
                step(
                  'x',
                  async (scope) => {
                    await pause(300);
                    scope.emit({ type: 'step.progress', message: 'too late' });
                  },
                  20,
                ),
              ],
            },
          ],
        },
      ],
      { graceMs: 30 },
    );
    expect(Date.now() - began).toBeLessThan(250);
    expect(result.errors[0]).toMatchObject({ code: 'BKE_TIMEOUT' });
    await pause(320);
    expect(types(events)).not.toContain('step.progress:a/x');
  });

  it('stops at the next safe point when cancelled and says where each host stands', async () => {
    const cancel = new AbortController();
    const { result, events } = await record(
      [
        {
          id: 'p1',
          title: 'P1',
          chains: [
            { host: 'a', steps: [step('x', async () => pause(5).then(() => cancel.abort())), step('y')] },
            { host: 'b', steps: [step('x', async (scope) => pause(5000, scope.signal))] },
            { host: 'c', steps: [step('x')] },
          ],
        },
      ],
      { signal: cancel.signal, concurrency: 2 },
    );
    expect(result.outcome).toBe('cancelled');
    expect(result.hosts).toMatchObject([
      { host: 'a', state: 'stopped', step: 'x' },
      { host: 'b', state: 'stopped', step: 'x' },
      { host: 'c', state: 'untouched' },
    ]);
    expect(events.find((event) => event.type === 'step.failed')).toMatchObject({
      host: 'b',
      error: { code: 'BKE_CANCELLED' },
    });
    expect(types(events)).not.toContain('step.started:c/x');
  });

  it('tells errors of the operating system as such, not as bugs', async () => {
    const { readFile } = await import('node:fs/promises');
    const { result } = await record([
      {
        id: 'p1',
        title: 'P1',
        chains: [{ host: 'a', steps: [step('x', async () => void (await readFile('/nowhere/at-all')))] }],
      },
    ]);
    expect(result.errors[0]).toMatchObject({
      code: 'BKE_SYSTEM',
      host: 'a',
      message: 'open /nowhere/at-all: no such file or directory (ENOENT)',
    });
  });

  it('passes on only some of many progress events, but always the last', async () => {
    const { events } = await record([
      {
        id: 'p1',
        title: 'P1',
        chains: [
          {
            steps: [
              step('x', async (scope) => {
                for (let done = 1; done <= 1000; done += 1)
                  scope.emit({ type: 'step.progress', done, total: 1000, unit: 'bytes' });
              }),
            ],
          },
        ],
      },
    ]);
    const progress = events.flatMap((event) => (event.type === 'step.progress' ? [event.done] : []));
    expect(progress.length).toBeLessThan(10);
    expect([progress[0], progress.at(-1)]).toEqual([1, 1000]);
  });
});
