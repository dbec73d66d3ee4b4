// `bke init` and `bke reset` killed at random moments on a real host: the next reset leaves it as it was before bke came.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { stopHosts } from '../testbed/index.ts';
import { initOptions } from './helpers/bke-host.ts';
import { type ResetHost, resetHost } from './helpers/reset-host.ts';

/** Numbers between 0 and 1, the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** @param few in an ordinary run; the whole in the soak */
function rounds(few: number): number[] {
  const count = process.env['BKE_SOAK'] === '1' ? 20 : few;
  return Array.from({ length: count }, (_, index) => index + 1);
}

const random = seeded(20_261_130);
let host: ResetHost;

beforeAll(async () => {
  host = await resetHost('reset2');
});

afterEach(async () => {
  await host.reset();
  expect(await host.difference()).toEqual([]);
});

afterAll(() => stopHosts());

it.each(rounds(1))('a death of init at a random moment (%i)', async () => {
  const seconds = 0.3 + 8 * random();
  process.stderr.write(
    `init killed after ${seconds.toFixed(2)} s: ${await host.killed(`init ${initOptions} --yes`, seconds)}\n`,
  );
});

it.each(rounds(2))('deaths of reset at random moments (%i)', async () => {
  await host.init();
  for (let time = 0; time < 3; time += 1) {
    const seconds = 0.2 + 3 * random();
    process.stderr.write(
      `reset killed after ${seconds.toFixed(2)} s: ${await host.killed('reset --all --mount --yes', seconds)}\n`,
    );
  }
});
