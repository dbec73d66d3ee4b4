import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationEvent } from '../../../src/api/events.ts';
import { createEmitter } from '../../../src/operations/emitter.ts';
import { createJournal, listJournals, newOperationId, readJournal } from '../../../src/operations/journal.ts';
import { runLocalOperation, throwUnlessDone } from '../../../src/operations/local-operation.ts';
import type { StepBinding } from '../../../src/operations/operation.ts';
import { operationsDirectory } from '../../../src/operations/state-dir.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { runCli } from '../../fakes/cli.ts';
import { step } from '../../fakes/operation.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bke-journal-'));
});
afterAll(async () => rm(root, { recursive: true }));

const now = (): Date => new Date('2026-11-30T10:15:00.123Z');

async function run(directory: string | undefined, dryRun = false, host = 'a') {
  const events: OperationEvent[] = [];
  const result = await runLocalOperation<StepBinding>(
    {
      events: (event) => events.push(event),
      signal: new AbortController().signal,
      now,
      operationsDirectory: directory,
    },
    {
      action: 'bundle.build',
      target: 'x.tar',
      dryRun,
      createScope: (binding) => binding,
      phases: [{ id: 'p', title: 'P', chains: [{ host, steps: [step('s')] }] }],
    },
  );
  return { result, events };
}

describe('the journal', () => {
  it('holds every event, in a file of 0600 in a folder of 0700', async () => {
    const directory = join(root, 'a/operations');
    const { result, events } = await run(directory);
    expect(result.id).toMatch(/^20261130-101500-bundle-build-[0-9a-f]{4}$/);
    const path = join(directory, `${result.id}.jsonl`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(events);
  });

  it('reads back without the line that a crash tore', async () => {
    const directory = join(root, 'torn');
    const { result, events } = await run(directory);
    await appendFile(join(directory, `${result.id}.jsonl`), '{"seq":99,"ti');
    const read: OperationEvent[] = [];
    for await (const event of readJournal(directory, result.id)) read.push(event);
    expect(read).toEqual(events);
  });

  it('is not kept of a dry run, nor where there is no place for it', async () => {
    const directory = join(root, 'dry');
    await run(directory, true);
    await expect(readdir(directory)).rejects.toThrow('ENOENT');
    expect((await run(undefined)).result.outcome).toBe('done');
  });

  it('keeps the newest 200 and leaves files of others alone', async () => {
    const directory = join(root, 'many');
    const first = await createJournal(directory, newOperationId('init', now()));
    first.close();
    await writeFile(join(directory, 'notes.txt'), '');
    for (let i = 0; i < 205; i += 1) {
      (await createJournal(directory, newOperationId('init', new Date(now().getTime() + i * 1000)))).close();
    }
    const ids = await listJournals(directory);
    expect(ids).toHaveLength(200);
    expect(ids).toEqual(ids.toSorted());
    expect(ids.at(-1)).toMatch(/^20261130-101824-init-/);
    expect(await readdir(directory)).toContain('notes.txt');
  });

  it('that can no longer be written does not stop the operation, and that is said once', () => {
    const seen: OperationEvent[] = [];
    const full = Object.assign(new Error('ENOSPC'), { errno: -28, code: 'ENOSPC', syscall: 'write' });
    const journal = {
      path: '',
      close: () => {},
      append: () => {
        throw full;
      },
    };
    const emit = createEmitter({ operation: 'x', now, sink: (event) => seen.push(event), journal });
    for (let i = 0; i < 3; i += 1) emit({ type: 'note', level: 'info', message: `${i}` });
    expect(seen.map((event) => (event.type === 'note' ? event.message : ''))).toEqual([
      '0',
      'the journal cannot be written any more: write: no space left on device (ENOSPC)',
      '1',
      '2',
    ]);
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('that can not even be begun does not stop the operation either', async () => {
    const blocked = join(root, 'blocked');
    await writeFile(blocked, 'a file');
    const seen: OperationEvent[] = [];
    const result = await runLocalOperation(
      {
        events: (event) => seen.push(event),
        signal: new AbortController().signal,
        now,
        operationsDirectory: join(blocked, 'operations'),
      },
      { action: 'reset', target: 'this host', phases: [], dryRun: false, createScope: (binding) => binding },
    );
    expect(result.outcome).toBe('done');
    expect(seen.flatMap((event) => (event.type === 'note' ? [event.message] : []))).toEqual([
      expect.stringMatching(/^the journal cannot be written any more: .*ENOTDIR/),
    ]);
  });
});

describe('bke operation', () => {
  it('lists journals, also one without an end, and shows one', async () => {
    const directory = join(root, 'cli');
    expect(await runCli(['operation', 'list'], { operationsDirectory: directory })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No operations were run from this machine yet.\n',
    });
    const { result } = await run(directory);
    const cut = await createJournal(directory, '20261130-101501-init-0000');
    cut.close();
    const list = await runCli(['operation', 'list'], { operationsDirectory: directory });
    expect(list.stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, '|'))).toEqual([
      'ID|ACTION|TARGET|OUTCOME|STARTED|TOOK',
      `${result.id}|bundle.build|x.tar|done|2026-11-30T10:15:00Z|<0.1s`,
      '20261130-101501-init-0000|-|-|not finished|-|-',
      '',
    ]);
    const show = await runCli(['operation', 'show', result.id], { operationsDirectory: directory });
    expect(show.stdout).toContain('step.started');
    const missing = await runCli(['operation', 'show', `${result.id}x`], { operationsDirectory: directory });
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    expect(missing.stderr).toContain(`Did you mean '${result.id}'?`);
  });

  it('never reads a file outside its folder', async () => {
    const { code } = await runCli(['operation', 'show', '../../../etc/passwd'], {
      operationsDirectory: join(root, 'cli'),
    });
    expect(code).toBe(2);
  });
});

describe('where journals are kept', () => {
  it.each([
    [0, {}, '/var/lib/bke/operations'],
    [0, { XDG_STATE_HOME: '/x' }, '/var/lib/bke/operations'],
    [1000, { XDG_STATE_HOME: '/x', HOME: '/home/a' }, '/x/bke/operations'],
    [1000, { XDG_STATE_HOME: 'relative', HOME: '/home/a' }, '/home/a/.local/state/bke/operations'],
    [1000, { HOME: '' }, undefined],
    [1000, {}, undefined],
  ])('uid %i with %j: %s', (uid, env, wanted) => {
    expect(operationsDirectory(env, uid)).toBe(wanted);
  });
});

describe('throwUnlessDone', () => {
  const base = { id: 'x', changed: false, durationMs: 1, errors: [] };

  it('throws the one error as it is, several together, and a cancel with the state of each host', () => {
    expect(() => throwUnlessDone({ ...base, outcome: 'done', hosts: [] })).not.toThrow();
    const error = new BkeError('BKE_TIMEOUT', 'x', { host: 'a' });
    expect(() => throwUnlessDone({ ...base, outcome: 'failed', hosts: [], errors: [error] })).toThrow(error);
    expect(() => throwUnlessDone({ ...base, outcome: 'failed', hosts: [], errors: [error, error] })).toThrow(
      AggregateError,
    );
    const hosts = [
      { host: 'a', state: 'done', changed: true },
      { host: 'b', state: 'stopped', step: 's1', changed: true },
      { host: 'c', state: 'untouched', changed: false },
      {
        host: 'd',
        state: 'failed',
        step: 's0',
        changed: false,
        error: { code: 'BKE_TIMEOUT', message: 'no answer', host: 'd' },
      },
    ] as const;
    try {
      throwUnlessDone({ ...base, outcome: 'cancelled', hosts });
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toMatchObject({
        code: 'BKE_CANCELLED',
        details: [
          'done: a',
          'stopped: b (in s1)',
          'failed: d (in s0)',
          'untouched: c',
          'd: error[BKE_TIMEOUT] no answer',
        ],
      });
    }
  });
});
