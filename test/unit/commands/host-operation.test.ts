// Operations on this host under its ledger: what is said before anything is done.
import { writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandContext } from '../../../src/commands/context.ts';
import { runOnThisHost } from '../../../src/commands/host-operation.ts';
import { openLedger } from '../../../src/host/ledger/ledger.ts';
import type { TaskScope } from '../../../src/tasks/task.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

let host: FakeHost;
let notes: string[];

beforeEach(async () => {
  host = await FakeHost.make();
  notes = [];
  const ledger = await openLedger(host, { operation: 'first', command: 'bke init' });
  await ledger.apply('services', { kind: 'file', path: '/etc/a', mode: 0o644, content: { text: 'x' } });
  await ledger.close();
});

afterEach(() => host.dispose());

function context(): CommandContext {
  return {
    env: {},
    cwd: '/',
    textWidth: 80,
    now: () => new Date(),
    operationsDirectory: undefined,
    onStop: () => undefined,
    looksIn: () => undefined,
    signal: new AbortController().signal,
    stdin: new PassThrough(),
    argv: ['init'],
    openLocalHost: async () => host,
    events: () => undefined,
    note: (line) => notes.push(line),
    verbosity: 0,
    confirm: async () => true,
  };
}

async function runInit(dryRun: boolean): Promise<void> {
  const step = { name: 'a', title: 'A', timeoutMs: 1000, run: async (_scope: TaskScope) => undefined };
  await runOnThisHost(context(), {
    host,
    action: 'init',
    phases: [{ id: 'services', title: 'Services', chains: [{ host: host.name, steps: [step] }] }],
    dryRun,
    scopeOf: () => 'services',
    next: () => [],
  });
}

it.each([true, false])('a record that came with a copied disk is warned of (dry run: %s)', async (dryRun) => {
  await runInit(dryRun);
  expect(notes).toEqual([]);
  await writeFile(host.at('/etc/machine-id'), 'another\n');
  await runInit(dryRun);
  expect(notes).toEqual([
    expect.stringMatching(/^Warning: the record of changes on fake was begun on another machine/),
  ]);
});
