// Leader election: by the monotonic clock alone, never two holders, never a generation twice, and no write after the deadline.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { defaultTiming, type HeldLease, holdLease, type LeaseOptions } from '../../../src/kube/lease.ts';
import { statusError } from '../../../src/kube/status-error.ts';
import { LeaseApi } from '../../fakes/lease-api.ts';

const timing = { durationMs: 1000, renewDeadlineMs: 600, requestTimeoutMs: 200, retryMs: 20 };
let api: LeaseApi;
let stop: AbortController;
beforeEach(() => {
  api = new LeaseApi();
  stop = new AbortController();
});
afterEach(() => {
  vi.useRealTimers();
  stop.abort();
});

function hold(identity: string, more: Partial<LeaseOptions> = {}): Promise<HeldLease> {
  const options = { client: api.client, namespace: 'bke-system', name: 'lease', identity, timing };
  return holdLease({ ...options, ...more }, stop.signal);
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('has a default that leaves a margin between what the old holder sent last and the next holder', () => {
  const { durationMs, renewDeadlineMs, requestTimeoutMs } = defaultTiming;
  expect(durationMs - renewDeadlineMs - requestTimeoutMs).toBeGreaterThanOrEqual(2000);
});

it('refuses times that would allow two holders', async () => {
  const risky = { durationMs: 200, renewDeadlineMs: 100, requestTimeoutMs: 100, retryMs: 10 };
  await expect(hold('me', { timing: risky })).rejects.toThrow('two holders');
});

it('bounds every request about the lease', async () => {
  const lease = await hold('me');
  await vi.waitFor(() => expect(api.requests.length).toBeGreaterThan(4));
  await lease.release();
  expect(new Set(api.requests.map(({ timeoutMs }) => timeoutMs))).toEqual(new Set([timing.requestTimeoutMs]));
});

it('lets nothing be written after its deadline, although no timer has come yet', async () => {
  const lease = await hold('me');
  lease.fence.check();
  block(timing.renewDeadlineMs + 50);
  // Nothing has run since: neither the timer of the deadline nor a renewal.
  expect(lease.signal.aborted).toBe(false);
  expect(() => lease.fence.check()).toThrow('the lease was lost');
  expect(lease.signal.aborted).toBe(true);
  expect(lease.fence.signal.aborted).toBe(true);
  const told = api.requests.length;
  await pause(50);
  // A renewal that was under way may have ended, none begins.
  expect(api.requests.length - told).toBeLessThanOrEqual(2);
});

it('is held by no more than one when the clock on the wall jumps by an hour, in both directions', async () => {
  const lease = await hold('me');
  const other = vi.fn();
  const waiting = hold('other').then(other, () => undefined);
  for (const hours of [1, -2]) {
    vi.setSystemTime(Date.now() + hours * 3_600_000);
    await pause(200);
    lease.fence.check();
    expect(lease.signal.aborted).toBe(false);
    expect(other).not.toHaveBeenCalled();
  }
  stop.abort();
  await waiting;
});

it('lets what was begun be written while it ends, and nothing once it is given back', async () => {
  const lease = await hold('me');
  stop.abort(new Error('SIGTERM'));
  expect(lease.signal.aborted).toBe(true);
  lease.fence.check();
  expect(lease.fence.signal.aborted).toBe(false);
  await lease.release();
  expect(() => lease.fence.check()).toThrow('given back');
  expect(api.holder).toBe('');
});

it('ends the right to write after the signal, too, when its time is over', async () => {
  const lease = await hold('me');
  stop.abort(new Error('SIGTERM'));
  await vi.waitFor(() => expect(lease.fence.signal.aborted).toBe(true));
  expect(() => lease.fence.check()).toThrow('the lease was lost');
});

it('gives each holder a higher generation', async () => {
  const first = await hold('one');
  expect(first.generation).toBe(1);
  await first.release();
  const second = await hold('two');
  expect(second.generation).toBe(2);
  await second.release();
});

it('does not begin anew where somebody deletes the Lease: never below what is known elsewhere', async () => {
  api.lease = undefined;
  const lease = await hold('me', { generationFloor: async () => 7 });
  expect(lease.generation).toBe(8);
  await lease.release();
  // Put there by somebody, or from a backup.
  api.put('', 2);
  const next = await hold('next', { generationFloor: async () => 8 });
  expect(next.generation).toBe(9);
  await next.release();
});

it('gives the next one a higher generation where the Lease is deleted while it is held', async () => {
  api.put('', 4);
  const lease = await hold('me');
  expect(lease.generation).toBe(6);
  api.lease = undefined;
  await vi.waitFor(() => expect(api.holder).toBe('me'));
  expect(lease.signal.aborted).toBe(false);
  await lease.release();
  const next = await hold('next');
  expect(next.generation).toBeGreaterThan(6);
  await next.release();
});

it('takes nothing while nobody can say which generations there were', async () => {
  let known = false;
  const causes: string[] = [];
  const generationFloor = async (): Promise<number> => {
    if (known) return 3;
    throw statusError({ what: 'list', status: 500, body: '' });
  };
  const holding = hold('me', { generationFloor, onWait: (cause) => causes.push(cause) });
  await vi.waitFor(() => expect(causes.length).toBeGreaterThan(2));
  expect(api.lease).toBeUndefined();
  known = true;
  const lease = await holding;
  expect(lease.generation).toBe(4);
  await lease.release();
});
