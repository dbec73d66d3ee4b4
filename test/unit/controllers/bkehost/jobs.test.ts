// Work on hosts outside of reconciles: one at a time for a host, a bounded number together, failures later and later.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { HostJobs, type Job } from '../../../../src/controllers/bkehost/jobs.ts';
import { BkeError } from '../../../../src/lib/errors.ts';

const signal = new AbortController().signal;

function job(run: Job['run'], more: Partial<Job> = {}): Job {
  return { name: 'enrol', inputs: 'a', timeoutMs: 5000, signal, run, ...more };
}

function jobs(most = 50) {
  const changes: string[] = [];
  const ends: string[] = [];
  const made = new HostJobs({
    most,
    onChange: (key) => changes.push(key),
    onEnd: (_name, outcome) => ends.push(outcome),
    firstPauseMs: 40,
    longestPauseMs: 80,
    lastingPauseMs: 60_000,
  });
  return { made, changes, ends };
}

async function ended(made: HostJobs, key: string): Promise<void> {
  await expect.poll(() => made.isRunning(key), { interval: 2 }).toBe(false);
}

it('runs one job for a host at a time, and tells what it does', async () => {
  const { made, changes, ends } = jobs();
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const work = job(async ({ tell }) => {
    runs += 1;
    tell('looking at the host');
    await gate.promise;
  });
  expect(made.want('bke/h1', work)).toBeUndefined();
  expect(made.want('bke/h1', work)).toBeUndefined();
  await expect.poll(() => made.of('bke/h1')?.doing, { interval: 2 }).toBe('looking at the host');
  gate.resolve();
  await ended(made, 'bke/h1');
  expect(runs).toBe(1);
  expect(made.of('bke/h1')).toEqual({ name: 'enrol', inputs: 'a' });
  expect(changes).toEqual(['bke/h1', 'bke/h1']);
  expect(ends).toEqual(['done']);
});

it('works on no more hosts together than it may', async () => {
  const { made } = jobs(3);
  let now = 0;
  let most = 0;
  const work = job(async () => {
    most = Math.max(most, (now += 1));
    await pause(5);
    now -= 1;
  });
  const keys = Array.from({ length: 12 }, (_, index) => `bke/h${index}`);
  for (const key of keys) made.want(key, work);
  for (const key of keys) await ended(made, key);
  expect(most).toBe(3);
});

it('does not try again at once what failed, but soon', async () => {
  const { made } = jobs();
  const failing = job(() => Promise.reject(new BkeError('BKE_SSH_UNREACHABLE', 'no answer')));
  made.want('bke/h1', failing);
  await ended(made, 'bke/h1');
  expect(made.of('bke/h1')?.failure).toMatchObject({ thrown: { code: 'BKE_SSH_UNREACHABLE' }, attempts: 1 });
  const wait = made.want('bke/h1', failing) ?? 0;
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(40);
  await pause(wait + 5);
  expect(made.want('bke/h1', failing)).toBeUndefined();
  await expect.poll(() => made.of('bke/h1')?.failure?.attempts, { interval: 2 }).toBe(2);
});

it('waits long after a login that was refused, but not where it would log in with something else', async () => {
  const { made, ends } = jobs();
  const refused = job(() => Promise.reject(new BkeError('BKE_SSH_AUTH', 'refused')));
  made.want('bke/h1', refused);
  await ended(made, 'bke/h1');
  expect(made.want('bke/h1', refused)).toBeGreaterThan(50_000);
  expect(made.want('bke/h1', { ...refused, inputs: 'b' })).toBeUndefined();
  await ended(made, 'bke/h1');
  expect(ends).toEqual(['failed', 'failed']);
});

it('ends what takes too long, and says what that was', async () => {
  const { made } = jobs();
  const work = job(
    async ({ tell, signal: until }) => {
      tell('fetching bke');
      await pause(10_000, undefined, { signal: until });
    },
    { timeoutMs: 30 },
  );
  made.want('bke/h1', work);
  await ended(made, 'bke/h1');
  expect(made.of('bke/h1')?.failure?.thrown).toMatchObject({
    code: 'BKE_TIMEOUT',
    message: expect.stringContaining('fetching bke did not end within'),
  });
});

it('begins nothing for a process that no longer leads', async () => {
  const { made } = jobs();
  let ran = false;
  made.want(
    'bke/h1',
    job(async () => void (ran = true), { signal: AbortSignal.abort(new Error('the lease was lost')) }),
  );
  await ended(made, 'bke/h1');
  expect(ran).toBe(false);
});

it('keeps a failure told while it is tried again, until that is past where it failed', async () => {
  const { made } = jobs();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let attempt = 0;
  const work = job(async ({ tell }) => {
    attempt += 1;
    tell('logging in');
    tell('installing');
    if (attempt === 1) throw new BkeError('BKE_AGENT_INSTALL', 'no');
    await gates[0]?.promise;
    tell('looking');
    await gates[1]?.promise;
  });
  made.want('bke/h1', work);
  await ended(made, 'bke/h1');
  await expect.poll(() => made.want('bke/h1', work) === undefined, { interval: 5 }).toBe(true);
  await expect.poll(() => made.of('bke/h1')?.doing, { interval: 2 }).toBe('installing');
  expect(made.of('bke/h1')?.failure).toMatchObject({ thrown: { code: 'BKE_AGENT_INSTALL' }, doing: 'installing' });
  gates[0]?.resolve();
  await expect.poll(() => made.of('bke/h1')?.doing, { interval: 2 }).toBe('looking');
  expect(made.of('bke/h1')?.failure).toBeUndefined();
  gates[1]?.resolve();
  await ended(made, 'bke/h1');
});
