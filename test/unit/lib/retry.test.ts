import { expect, test } from 'vitest';
import { retry } from '../../../src/lib/retry.ts';

const always = { retriable: () => true, pauseMs: 10 };

test('tries again until it works', async () => {
  const seen: number[] = [];
  const result = await retry(
    (attempt) => {
      seen.push(attempt);
      return attempt < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve('done');
    },
    { ...always, attempts: 5, deadlineMs: 5000 },
  );
  expect({ result, seen }).toEqual({ result: 'done', seen: [1, 2, 3] });
});

test('stops at the number of attempts, at the deadline and at what cannot heal, always with the last cause', async () => {
  let tries = 0;
  const fail = (): Promise<never> => Promise.reject(new Error(`failure ${(tries += 1)}`));
  await expect(retry(fail, { ...always, attempts: 3, deadlineMs: 5000 })).rejects.toThrow('failure 3');
  tries = 0;
  const start = performance.now();
  await expect(retry(fail, { ...always, attempts: 1000, deadlineMs: 100, pauseMs: 40 })).rejects.toThrow(
    /failure [2-9]/,
  );
  expect(performance.now() - start).toBeLessThan(1000);
  tries = 0;
  await expect(retry(fail, { ...always, attempts: 3, deadlineMs: 5000, retriable: () => false })).rejects.toThrow(
    'failure 1',
  );
});

test('the time left is told, and an abort ends the pause', async () => {
  const left: number[] = [];
  const stop = new AbortController();
  const work = retry(
    (_, remaining) => {
      left.push(remaining);
      return Promise.reject(new Error('no'));
    },
    { ...always, attempts: 9, deadlineMs: 60_000, pauseMs: 20_000, signal: stop.signal },
  );
  setTimeout(() => stop.abort(), 20);
  await expect(work).rejects.toThrow('abort');
  expect(left).toHaveLength(1);
  expect(left[0]).toBeGreaterThan(59_000);
});
