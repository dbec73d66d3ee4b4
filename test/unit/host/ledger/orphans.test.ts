// A bke that is killed while a program of it runs: the next one does not work beside that program.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';
import { takeLock } from '../../../../src/host/ledger/lock.ts';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import { parseProcessStat } from '../../../../src/host/state/processes.ts';

const cli = fileURLToPath(new URL('../../../fakes/lock-cli.ts', import.meta.url));
const limit = 30_000;
let stateDir: string;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bke-orphans-'));
});

afterEach(() => rm(stateDir, { recursive: true, force: true }));

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** What nobody has waited for yet runs no more either. */
async function runs(pid: number): Promise<boolean> {
  const state = parseProcessStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Runs a shell script under the lock, and kills its bke once the script has begun. */
async function killedWhileRunning(script: string): Promise<void> {
  const begun = join(stateDir, 'begun');
  const bke: ChildProcess = spawn(process.execPath, [cli, stateDir, 'sh', '-c', `touch ${begun}; ${script}`]);
  const ended = new Promise((resolve) => bke.once('exit', resolve));
  while (!(await isThere(begun))) await sleep(20);
  bke.kill('SIGKILL');
  await ended;
}

test('it waits until the program has ended, and says for what', { timeout: limit }, async () => {
  const [go, done] = [join(stateDir, 'go'), join(stateDir, 'done')];
  await killedWhileRunning(`until [ -e ${go} ]; do sleep 0.1; done; touch ${done}`);
  const told: string[] = [];
  const host = await openLocalHost();
  const ledger = await openLedger(host, {
    operation: 'next',
    command: 'bke reset',
    stateDir,
    tell: (message) => {
      told.push(message);
      void writeFile(go, '');
    },
  });
  expect(await isThere(done)).toBe(true);
  expect(told).toEqual([expect.stringMatching(/^Waiting at most 60 s for (sh|sleep) \(pid \d+\)/)]);
  await ledger.close();
});

test('a program that does not end in time is killed with all its children', { timeout: limit }, async () => {
  const pids = join(stateDir, 'pids');
  await killedWhileRunning(`sleep 60 & echo $$ $! > ${pids}; touch ${join(stateDir, 'told')}; sleep 60`);
  while (!(await isThere(join(stateDir, 'told')))) await sleep(20);
  const programs = (await readFile(pids, 'utf8')).trim().split(' ').map(Number);
  expect(await Promise.all(programs.map(runs))).toEqual([true, true]);
  const host = await openLocalHost();
  const lock = await takeLock(host, join(stateDir, 'lock'), { command: 'bke reset', waitMs: 300 });
  expect(await Promise.all(programs.map(runs))).toEqual([false, false]);
  await lock.release();
});

test('someone who cancels while it waits gives the lock up again', { timeout: limit }, async () => {
  await killedWhileRunning('sleep 60');
  const host = await openLocalHost();
  const directory = join(stateDir, 'lock');
  const options = { command: 'bke reset', signal: AbortSignal.abort() };
  await expect(takeLock(host, directory, options)).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
  // The dead one's claim stays: whoever comes next waits for its program as well.
  expect(await host.files.list(directory)).toHaveLength(1);
  await (await takeLock(host, directory, { command: 'bke reset', waitMs: 300 })).release();
});

test('a program of a bke that gave its lock up is nobody to wait for', { timeout: limit }, async () => {
  const host = await openLocalHost();
  const directory = join(stateDir, 'lock');
  const first = await takeLock(host, directory, { command: 'bke init' });
  const stop = new AbortController();
  const running = host.run(['sleep', '60'], { signal: stop.signal });
  await first.release();
  const began = performance.now();
  await (await takeLock(host, directory, { command: 'bke reset' })).release();
  expect(performance.now() - began).toBeLessThan(20_000);
  stop.abort();
  await expect(running).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
});
