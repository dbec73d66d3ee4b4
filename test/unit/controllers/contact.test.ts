// Whether the API server can be reached: a short silence is none, a long one is told with its beginning.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { watchContact } from '../../../src/controllers/contact.ts';
import { BkeError } from '../../../src/lib/errors.ts';

let stop: AbortController;
afterEach(() => stop.abort());

it('tells since when the API server has not answered, once that is long, and no more when it answers again', async () => {
  stop = new AbortController();
  let answers = true;
  let elapsedMs = 0;
  let wall = new Date('2026-01-01T00:00:00Z');
  const request = vi.fn(async () => {
    if (!answers) throw new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers');
  });
  /** Two questions that began after now have been answered. */
  const asked = async (): Promise<void> => {
    const before = request.mock.calls.length;
    await vi.waitFor(() => expect(request.mock.calls.length).toBeGreaterThan(before + 2));
  };
  const options = { client: { request }, now: () => wall, clock: () => elapsedMs, signal: stop.signal };
  const contact = watchContact({ ...options, intervalMs: 1, toleranceMs: 60_000 });
  await asked();
  answers = false;
  await asked();
  elapsedMs = 59_000;
  // Somebody sets the clock.
  wall = new Date('2026-01-01T03:00:59Z');
  await asked();
  expect(contact.lostSince()).toBeUndefined();
  elapsedMs = 61_000;
  wall = new Date('2026-01-01T00:01:01Z');
  await asked();
  expect(contact.lostSince()).toEqual(new Date('2026-01-01T00:00:00Z'));
  answers = true;
  await asked();
  expect(contact.lostSince()).toBeUndefined();
});

it('asks no more when it is told to end', async () => {
  stop = new AbortController();
  const request = vi.fn(async () => 'ok');
  watchContact({ client: { request }, now: () => new Date(), signal: stop.signal, intervalMs: 1 });
  await vi.waitFor(() => expect(request.mock.calls.length).toBeGreaterThan(2));
  stop.abort();
  const asked = request.mock.calls.length;
  await pause(20);
  expect(request.mock.calls.length).toBe(asked);
});
