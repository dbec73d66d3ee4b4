import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenForSignals, type SignalSource, type StopSignal } from '../../../src/cli/signals.ts';

const program = fileURLToPath(new URL('../../fakes/work-cli.ts', import.meta.url));
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const names: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bke-signals-'));
});
afterAll(async () => rm(directory, { recursive: true }));

interface Started {
  readonly child: ChildProcess;
  readonly files: string;
  readonly operations: string;
  /** Resolves when the child has told that it began. */
  readonly began: Promise<void>;
  readonly ended: Promise<{ code: number | null; signal: string | null; stderr: string }>;
}

async function start(run: string, ...words: string[]): Promise<Started> {
  const files = join(directory, run, 'files');
  const operations = join(directory, run, 'operations');
  const argv = [
    program,
    'work',
    '--directory',
    files,
    '--steps',
    '20',
    ...(words.length === 0 ? ['--ms', '60'] : words),
  ];
  const child = spawn(process.execPath, argv, {
    env: { PATH: '/usr/bin:/bin', TEST_OPERATIONS: operations },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  let tell = (): void => {};
  const began = new Promise<void>((resolve) => {
    tell = resolve;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    if (stderr.includes('== Do one thing')) tell();
  });
  const ended = new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
  return { child, files, operations, began, ended };
}

/** Every file in place parses; what is in progress is only ever a temporary one. */
async function checkFiles(run: Started): Promise<void> {
  for (const name of await readdir(run.files).catch(() => [])) {
    if (name.startsWith('.')) continue;
    expect(JSON.parse(await readFile(join(run.files, name), 'utf8'))).toHaveProperty('filler');
  }
}

async function journalTypes(run: Started): Promise<string[]> {
  const [name = ''] = await readdir(run.operations);
  const lines = (await readFile(join(run.operations, name), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => String(Reflect.get(Object(JSON.parse(line)), 'type')));
}

describe('a signal to a running operation', () => {
  it.each(names)('%s once stops at the next safe point and tells where each host stands', async (name) => {
    const run = await start(`once-${name}`);
    await run.began;
    await sleep(150);
    run.child.kill(name);
    const { code, signal, stderr } = await run.ended;
    expect([code, signal]).toEqual([codes[name], null]);
    expect(stderr).toContain(
      `${name === 'SIGINT' ? 'Ctrl-C' : name}: stopping at the next safe point. A second one ends bke at once, in the middle of a step.\n`,
    );
    expect(stderr).toMatch(
      /interrupted\[BKE_CANCELLED\]: stopped before it was done\n {2}stopped: h1 \(in s\d+\), h2 \(in s\d+\), h3 \(in s\d+\)/,
    );
    expect(stderr).toContain('hint: What was done stays. Run the same command again to go on from there.');
    const types = await journalTypes(run);
    expect(types.at(-1)).toBe('operation.finished');
    expect(types.filter((type) => type === 'step.started')).toHaveLength(
      types.filter((type) => type === 'step.finished' || type === 'step.failed').length,
    );
    await checkFiles(run);
  });

  it('a second time ends it now', async () => {
    // Deaf steps: without the second signal this would take minutes.
    const run = await start('twice', '--deaf', '--ms', '60000');
    await run.began;
    await sleep(100);
    run.child.kill('SIGINT');
    await sleep(100);
    const before = Date.now();
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(143);
    expect(Date.now() - before).toBeLessThan(2000);
    await journalTypes(run);
  });

  it('at any time leaves only whole files and a journal that reads', async () => {
    const rounds = Number(process.env['BKE_TEST_ROUNDS'] ?? 6);
    for (let round = 0; round < rounds; round += 1) {
      const name = names[round % names.length] ?? 'SIGINT';
      const run = await start(`random-${round}`);
      if (round % 2 === 0) await run.began;
      await sleep(Math.random() * 400);
      run.child.kill(name);
      if (round % 3 === 0) run.child.kill(name);
      const { code, signal } = await run.ended;
      // Before the handlers are there (the first milliseconds of the process) the signal itself ends it: nothing has begun then.
      expect([codes[name], null]).toContain(code);
      if (code === null) expect(signal).toBe(name);
      await checkFiles(run);
      for (const file of await readdir(run.operations).catch(() => [])) {
        const lines = (await readFile(join(run.operations, file), 'utf8')).trimEnd().split('\n');
        for (const line of lines.filter((text) => text !== '')) expect(() => JSON.parse(line)).not.toThrow();
      }
    }
  }, 60_000);
});

describe('listenForSignals', () => {
  it('shows the cursor again when the second signal ends the process', () => {
    const listeners = new Map<StopSignal, () => void>();
    const exits: number[] = [];
    const source: SignalSource = {
      on: (name, listener) => listeners.set(name, listener),
      off: (name) => listeners.delete(name),
      exit: (code) => exits.push(code),
    };
    const written: string[] = [];
    const signals = listenForSignals(source, { isTTY: true, write: (text) => written.push(text) }, () => {});
    listeners.get('SIGHUP')?.();
    expect([signals.signal.aborted, signals.received(), exits]).toEqual([true, 'SIGHUP', []]);
    listeners.get('SIGINT')?.();
    expect(exits).toEqual([130]);
    expect(written.at(-1)).toBe('\u001B[?25h');
    signals.stopListening();
    expect(listeners.size).toBe(0);
  });
});
