// Times two commands in turn (A B A B …) and gives the ratio of each pair: a machine whose speed drifts slows both alike.
import { execa } from 'execa';

export interface Pairs {
  /** Medians in milliseconds. */
  readonly a: number;
  readonly b: number;
  /** Median of the pairs' a / b. */
  readonly ratio: number;
}

/** Runs each command `runs` times after one warm-up. @throws when one of them fails. */
export async function timePairs(a: readonly string[], b: readonly string[], runs: number): Promise<Pairs> {
  await time(a);
  await time(b);
  const samples: { a: number; b: number }[] = [];
  for (let run = 0; run < runs; run += 1) samples.push({ a: await time(a), b: await time(b) });
  return {
    a: median(samples.map((sample) => sample.a)),
    b: median(samples.map((sample) => sample.b)),
    ratio: median(samples.map((sample) => sample.a / sample.b)),
  };
}

async function time([program = '', ...args]: readonly string[]): Promise<number> {
  // No variables of this shell: bke starts itself anew where it finds one meant for Node.
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/root' };
  const started = performance.now();
  await execa(program, args, { stdin: 'ignore', env, extendEnv: false });
  return performance.now() - started;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
