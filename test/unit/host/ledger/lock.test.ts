// The lock of a host: a living owner is named, a dead one's lock is taken over, and two never hold it at once.
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HostLock, lockOwner, takeLock } from '../../../../src/host/ledger/lock.ts';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';

const directory = '/var/lib/bke/lock';
let host: FakeHost;

beforeEach(async () => {
  host = await FakeHost.make();
  await mkdir(host.at('/var/lib/bke'));
});

afterEach(async () => {
  await host.dispose();
});

async function claimOf(): Promise<Record<string, unknown>> {
  const [name = ''] = await readdir(host.at(directory));
  return JSON.parse(await readFile(host.at(`${directory}/${name}`), 'utf8'));
}

async function plant(change: Record<string, unknown>): Promise<void> {
  const lock = await takeLock(host, directory, { command: 'bke init' });
  const claim = await claimOf();
  await lock.release();
  await writeFile(host.at(`${directory}/planted`), JSON.stringify({ ...claim, ...change }));
}

test('a living owner is named with pid, command and since when', async () => {
  const lock = await takeLock(host, directory, { command: 'bke init --config b.yaml' });
  const { since } = await claimOf();
  await expect(takeLock(host, directory, { command: 'bke reset' })).rejects.toMatchObject({
    code: 'BKE_LOCKED',
    exitCode: 7,
    message: `another bke works on this host: bke init --config b.yaml (pid ${process.pid}, since ${String(since).replace(/\.\d+Z$/, 'Z')})`,
    hint: "Wait until it has ended ('bke status' tells where it is), then run the same command again.",
  });
  await lock.release();
  await (await takeLock(host, directory, { command: 'bke reset' })).release();
});

test('the claim records pid, start time, boot, host and command', async () => {
  const lock = await takeLock(host, directory, { command: 'bke init' });
  expect(await claimOf()).toMatchObject({
    pid: process.pid,
    startTicks: expect.stringMatching(/^\d+$/),
    host: 'fake',
    command: 'bke init',
  });
  expect((await lockOwner(host, directory))?.pid).toBe(process.pid);
  await lock.release();
  expect(await lockOwner(host, directory)).toBeUndefined();
});

test.each([
  ['of a process that is gone', async () => ({ pid: await deadPid() })],
  ['of a pid that is another program now', async () => ({ startTicks: '1' })],
  ['of another boot', async () => ({ bootId: '00000000-0000-0000-0000-000000000000' })],
])('a lock %s is taken over', async (_name, change) => {
  await plant(await change());
  expect(await lockOwner(host, directory)).toBeUndefined();
  const lock = await takeLock(host, directory, { command: 'bke init' });
  expect(await readdir(host.at(directory))).toHaveLength(1);
  await lock.release();
});

function deadPid(): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('true');
    child.once('exit', () => resolve(child.pid ?? 0));
  });
}

test('where the lock cannot be written the error is that', async () => {
  await writeFile(host.at(directory), 'a file');
  await expect(takeLock(host, directory, { command: 'bke init' })).rejects.toMatchObject({
    code: 'BKE_SYSTEM',
    message: expect.stringContaining(directory),
  });
});

test('of many that start at once never two hold it, and every one gets it or is told who has it', async () => {
  await plant({ startTicks: '1' });
  let holders = 0;
  let most = 0;
  let got = 0;
  const contend = async (): Promise<void> => {
    let lock: HostLock;
    try {
      lock = await takeLock(host, directory, { command: 'bke init' });
    } catch (thrown) {
      if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_LOCKED') throw thrown;
      return;
    }
    holders += 1;
    got += 1;
    most = Math.max(most, holders);
    await new Promise((resolve) => setTimeout(resolve, 5));
    holders -= 1;
    await lock.release();
  };
  for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 6 }, contend));
  expect(most).toBe(1);
  expect(got).toBeGreaterThan(0);
});

test('two hosts, or two state directories, do not block each other', async () => {
  const first = await openLedger(host, { operation: 'a', command: 'bke init' });
  const second = await openLedger(host, { operation: 'b', command: 'bke init', stateDir: '/opt/bke' });
  await expect(openLedger(host, { operation: 'c', command: 'bke reset' })).rejects.toMatchObject({
    code: 'BKE_LOCKED',
  });
  await first.close();
  await second.close();
});

test.each(['null', '7', '[]', '{}', '{"pid":"1"}', 'x', ''])(
  'what is no claim (%s) holds nobody up and is cleaned away',
  async (text) => {
    await mkdir(host.at(directory));
    await writeFile(host.at(`${directory}/x`), text);
    await mkdir(host.at(`${directory}/folder`));
    const lock = await takeLock(host, directory, { command: 'bke init' });
    expect((await readdir(host.at(directory))).length).toBe(2);
    await lock.release();
    expect(await readdir(host.at(directory))).toEqual(['folder']);
  },
);
