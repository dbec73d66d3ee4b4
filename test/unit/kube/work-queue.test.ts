// The queue's promises: one run per key at a time, none lost, failures again with pauses, an end in bounded time.
import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../src/kube/work-queue.ts';

describe('WorkQueue', () => {
  it('works on each key once at a time, on so many at once, and after every add', async () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const action = fc.record({ key, wait: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        async (actions, concurrency) => {
          const running = new Set<string>();
          const added = new Map<string, number>();
          const seen = new Map<string, number>();
          let most = 0;
          const queue = new WorkQueue({
            concurrency,
            work: async (name) => {
              expect(running.has(name)).toBe(false);
              running.add(name);
              most = Math.max(most, running.size);
              // What was added until now is what this run sees.
              seen.set(name, added.get(name) ?? 0);
              await pause(Math.random() * 2);
              running.delete(name);
              return undefined;
            },
          });
          for (const step of actions) {
            added.set(step.key, (added.get(step.key) ?? 0) + 1);
            queue.add(step.key);
            if (step.wait) await pause(1);
          }
          while (queue.depth > 0 || running.size > 0) await pause(1);
          expect(seen).toEqual(added);
          expect(most).toBeLessThanOrEqual(concurrency);
          expect(await queue.stop(1000)).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('works once on what is added many times', async () => {
    const worked: string[] = [];
    const queue = new WorkQueue({
      concurrency: 1,
      work: async (key) => {
        worked.push(key);
        return undefined;
      },
    });
    for (let count = 0; count < 100; count += 1) queue.add('a');
    queue.add('b');
    await pause(20);
    expect(worked).toEqual(['a', 'b']);
  });

  it('tries a failure again with growing pauses, until it works', async () => {
    const times: number[] = [];
    const attempts: number[] = [];
    const done = Promise.withResolvers<void>();
    const queue = new WorkQueue({
      concurrency: 1,
      firstPauseMs: 20,
      longestPauseMs: 80,
      work: async () => {
        times.push(performance.now());
        if (times.length < 5) throw new Error('not yet');
        done.resolve();
        return undefined;
      },
      onError: (_, error, attempt) => {
        expect(error).toEqual(new Error('not yet'));
        attempts.push(attempt);
      },
    });
    queue.add('a');
    await done.promise;
    expect(attempts).toEqual([1, 2, 3, 4]);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // Between half and all of 20, 40, 80, 80; timers may be late, never early by more than a millisecond.
    for (const [index, least] of [10, 20, 40, 40].entries()) expect(pauses[index]).toBeGreaterThanOrEqual(least - 1);
    await queue.stop(100);
  });

  it('looks again after the time that the work asks for, and at the earliest of several', async () => {
    let runs = 0;
    const queue = new WorkQueue({
      concurrency: 1,
      work: async () => {
        runs += 1;
        return runs === 1 ? { againAfterMs: 10 } : undefined;
      },
    });
    queue.add('a');
    queue.addAfter('b', 60_000);
    queue.addAfter('b', 5);
    await pause(60);
    expect(runs).toBe(3);
    await queue.stop(100);
  });

  it('stops: starts nothing, tells what runs, and names what does not end in time', async () => {
    const signals: AbortSignal[] = [];
    const queue = new WorkQueue({
      concurrency: 2,
      work: async (key, signal) => {
        signals.push(signal);
        await pause(key === 'slow' ? 300 : 5);
        return undefined;
      },
    });
    for (const key of ['slow', 'quick', 'never']) queue.add(key);
    queue.addAfter('later', 10);
    await pause(2);
    expect(await queue.stop(50)).toEqual(['slow']);
    queue.add('after');
    await pause(20);
    expect(signals).toHaveLength(2);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('takes up no place with what waits aside, holds its key all the same, and lets go of it when it stops', async () => {
    const begun: string[] = [];
    const { promise: answer, resolve } = Promise.withResolvers<string>();
    const answers: string[] = [];
    const queue = new WorkQueue({
      concurrency: 1,
      work: async (key, _signal, aside) => {
        begun.push(key);
        if (key.startsWith('slow')) answers.push(await aside(() => answer));
        if (key === 'dead') await aside(() => new Promise<never>(() => undefined));
        return undefined;
      },
    });
    for (const key of ['slow1', 'slow2', 'dead', 'quick', 'slow1']) queue.add(key);
    await pause(20);
    expect(begun).toEqual(['slow1', 'slow2', 'dead', 'quick']);
    queue.add('slow1');
    await pause(20);
    expect(begun).toEqual(['slow1', 'slow2', 'dead', 'quick']);
    resolve('an answer');
    await pause(20);
    expect(begun).toEqual(['slow1', 'slow2', 'dead', 'quick', 'slow1']);
    expect(answers).toEqual(['an answer', 'an answer', 'an answer']);
    expect(await queue.stop(1000)).toEqual([]);
  });
});
