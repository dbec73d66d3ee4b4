// What others than the bke that works on a host are told of it: by bke status, and before a question that it would make vain.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OperationEvent } from '../../../src/api/events.ts';
import { besideInit, isTold, readRunning, type Running, runningLine } from '../../../src/commands/running.ts';
import { type Ledger, openLedger } from '../../../src/host/ledger/ledger.ts';
import { runCli } from '../../fakes/cli.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

const operation = '20261130-190326-init-0456';
const now = new Date('2026-11-30T19:03:40Z');

let host: FakeHost;
let journals: string;
let ledger: Ledger;

beforeEach(async () => {
  host = await FakeHost.make();
  journals = await mkdtemp(join(tmpdir(), 'bke-journals-'));
  ledger = await openLedger(host, { operation, command: 'bke init' });
});

afterEach(async () => {
  await ledger.close();
  await rm(journals, { recursive: true });
  await host.dispose();
});

async function writeJournal(...bodies: readonly object[]): Promise<void> {
  const lines = bodies.map((body, i) => JSON.stringify({ seq: i + 1, time: now.toISOString(), operation, ...body }));
  await writeFile(join(journals, `${operation}.jsonl`), lines.map((line) => `${line}\n`).join(''));
}

const phase: Partial<OperationEvent> = { type: 'phase.started', phase: 'content', title: 'Services', hosts: ['boot'] };
const step: Partial<OperationEvent> = {
  type: 'step.started',
  phase: 'content',
  step: 'content/images',
  title: 'Images',
};
const stepEnd: Partial<OperationEvent> = { type: 'step.finished', phase: 'content', step: 'content/images' };

it('who works on this host is known by command, pid, time and operation', async () => {
  expect(await readRunning({ operationsDirectory: journals }, host)).toEqual({
    command: 'bke init',
    pid: process.pid,
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    operation,
  });
  await ledger.close();
  expect(await readRunning({ operationsDirectory: journals }, host)).toBeUndefined();
});

it.each([
  ['in a step', [phase, step], { phase: 'Services', step: 'Images' }],
  ['between two steps', [phase, step, stepEnd], { phase: 'Services' }],
  ['before the first phase', [], {}],
])('its journal tells where it is: %s', async (_name, events, at) => {
  await writeJournal(...events);
  const {
    command,
    pid,
    since,
    operation: id,
    ...found
  } = (await readRunning({ operationsDirectory: journals }, host)) ?? {};
  expect([command, pid, id]).toEqual(['bke init', process.pid, operation]);
  expect(since).toBeDefined();
  expect(found).toEqual(at);
});

it('one line tells it to a person', () => {
  const running: Running = { command: 'bke init', pid: 804, since: '2026-11-30T19:03:26.409Z' };
  expect(runningLine(running, now)).toBe('bke init is running here: pid 804, for 14s (since 2026-11-30T19:03:26Z).');
  expect(runningLine({ ...running, phase: 'Services' }, now)).toContain(", now at 'Services'.");
  expect(runningLine({ ...running, phase: 'Services', step: 'Images' }, now)).toBe(
    "bke init is running here: pid 804, for 14s (since 2026-11-30T19:03:26Z), now at 'Services: Images'.",
  );
});

it('what an init has not come to is pending, and missing where nothing makes it', () => {
  const item = { name: 'files', state: 'missing', unit: 'u', version: 'unknown', address: 'a' } as const;
  const running: Running = { command: 'bke init', pid: 804, since: now.toISOString() };
  expect(besideInit(running, item)).toEqual({ ...item, state: 'pending', reason: 'bke init has not come to it yet' });
  expect(besideInit({ ...running, command: 'bke reset' }, item)).toEqual(item);
  expect(besideInit(undefined, item)).toEqual(item);
});

it('bke status names it, also where nothing stands yet', async () => {
  await writeJournal(phase, step);
  const run = await runCli(['status'], { openLocalHost: async () => host, operationsDirectory: journals });
  expect(run.code).toBe(0);
  expect(run.stderr).toMatch(
    new RegExp(
      `^bke init is running here: pid ${process.pid}, for .*, now at 'Services: Images'\\.\nNothing stands here yet\\.\n$`,
    ),
  );
});

it('bke status has the same fields for programs where nothing stands', async () => {
  await ledger.close();
  const run = await runCli(['status', '-o', 'json'], { openLocalHost: async () => host });
  expect(JSON.parse(run.stdout)).toEqual({
    kind: 'List',
    bundle: null,
    running: null,
    clusters: [],
    certificateEnds: null,
    items: [],
  });
});

it.runIf(process.getuid?.() === 0)('a plan says that it is of a host at work', async () => {
  const run = await runCli(['init', '--dry-run'], { openLocalHost: async () => host, operationsDirectory: journals });
  expect(run.stderr.split('\n')[0]).toMatch(/^Note: bke init is running here: pid \d+, for \S+ \(since \S+Z\)\.$/);
});

// The commands refuse everybody else than root first.
it.runIf(process.getuid?.() === 0).each(['init', 'reset'])(
  'bke %s meets it before it reads or asks anything',
  async (command) => {
    const run = await runCli([command], { openLocalHost: async () => host, operationsDirectory: journals });
    expect(run.code).toBe(7);
    expect(run.stderr).toMatch(
      /^error\[BKE_LOCKED\]: fake: another bke works on this host: bke init \(pid \d+, since \S+Z\)\n/,
    );
    expect(run.stderr.split('\n')[1]).toBe(
      "hint: Wait until it has ended ('bke status' tells where it is), then run the same command again.",
    );
  },
);

it.each([
  [undefined, 'stopped', true],
  ['bke init', 'unhealthy', true],
  ['bke init', 'pending', false],
  ['bke reset', 'stopped', false],
  ['bke stop', 'stopped', false],
  ['bke agent run', 'stopped', true],
] as const)('while %s runs, that something is %s is told: %s', (command, state, told) => {
  const running = command === undefined ? undefined : { command, pid: 804, since: now.toISOString() };
  expect(isTold(running, state)).toBe(told);
});
