import { execFile, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { SignalSource, StopSignal } from '../../../src/cli/signals.ts';
import type { Command, CommandContext } from '../../../src/commands/context.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { runLocalOperation, throwUnlessDone } from '../../../src/operations/local-operation.ts';
import type { StepBinding } from '../../../src/operations/operation.ts';
import { runCli } from '../../fakes/cli.ts';
import { pause, step } from '../../fakes/operation.ts';

const directory = mkdtempSync(join(tmpdir(), 'bke-main-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** One command `act` that acts, without results of its own. */
function acting(run: (context: CommandContext) => Promise<void>): Command[] {
  return [
    {
      path: ['act'],
      group: 'help',
      summary: 'Act',
      examples: [],
      options: [{ type: 'flag', name: 'yes', summary: 'do not ask' }],
      run: async (context) => {
        await run(context);
        return { kind: 'none' };
      },
    },
  ];
}

async function operate(context: CommandContext, fail = false, dryRun = false): Promise<void> {
  const work = async (binding: StepBinding): Promise<void> => {
    if (fail) throw new BkeError('BKE_COMMAND_FAILED', 'no');
    if (dryRun) binding.emit({ type: 'step.planned', action: 'create', what: 'file /etc/x' });
    else binding.changed();
  };
  const result = await runLocalOperation<StepBinding>(context, {
    action: 'init',
    target: 'this host',
    dryRun,
    createScope: (binding) => binding,
    phases: [{ id: 'p', title: 'The phase', chains: [{ host: 'boot', steps: [step('s', work)] }] }],
  });
  throwUnlessDone(result);
}

const where = { operationsDirectory: join(directory, 'operations') };

function types(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => String(Reflect.get(Object(JSON.parse(line)), 'type')));
}

const allTypes = [
  'operation.started',
  'phase.started',
  'step.started',
  'step.finished',
  'phase.finished',
  'operation.finished',
];

describe('events of an operation', () => {
  it('are plain lines on standard error where it is no terminal, a frame where it is one', async () => {
    const plain = await runCli(['act'], { ...where, commands: acting(operate) });
    expect([plain.code, plain.stdout]).toEqual([0, '']);
    expect(plain.stderr).toMatch(/^\S+Z init of this host, operation \S+-init-\S+\n\S+Z == The phase\n/);
    const tty = await runCli(['act'], { ...where, commands: acting(operate), tty: true, env: { TERM: 'xterm' } });
    expect(tty.stderr).toContain('\u001B[?25l');
    expect(tty.stderr).toContain('The phase');
    const dumb = await runCli(['act'], { ...where, commands: acting(operate), tty: true, env: { TERM: 'dumb' } });
    expect(dumb.stderr).not.toContain('\u001B');
  });

  it('are NDJSON on standard output with -o json, and nobody else is told', async () => {
    const { code, stdout, stderr } = await runCli(['act', '-o', 'json'], { ...where, commands: acting(operate) });
    expect([code, stderr]).toEqual([0, '']);
    expect(types(stdout)).toEqual(allTypes);
  });

  it('are NDJSON on standard output and progress on standard error where both are asked for', async () => {
    const run = await runCli(['act', '-o', 'json', '--progress', 'plain'], { ...where, commands: acting(operate) });
    expect(types(run.stdout)).toEqual(allTypes);
    expect(run.stderr).toContain('== The phase');
    const json = await runCli(['act', '--progress=json'], { ...where, commands: acting(operate) });
    expect(json.stdout).toBe('');
    expect(types(json.stderr)).toEqual(allTypes);
  });

  it('leave standard output valid JSON on failure, with the error also on standard error', async () => {
    const commands = acting(async (context) => operate(context, true));
    const { code, stdout, stderr } = await runCli(['act', '-o', 'json'], { ...where, commands });
    expect(code).toBe(1);
    expect(types(stdout).at(-1)).toBe('operation.finished');
    expect(JSON.parse(stderr)).toMatchObject({
      kind: 'Error',
      exitCode: 1,
      errors: [{ code: 'BKE_COMMAND_FAILED', host: 'boot' }],
    });
  });

  it('are hidden by -q; errors are not', async () => {
    expect(await runCli(['act', '-q'], { ...where, commands: acting(operate) })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const failed = await runCli(['act', '-q'], {
      ...where,
      commands: acting(async (context) => operate(context, true)),
    });
    expect(failed.stderr).toBe('error[BKE_COMMAND_FAILED]: boot: no\nsee: bke explain BKE_COMMAND_FAILED\n');
  });

  it('and notes keep their order, on a terminal outside the frame', async () => {
    const commands = acting(async (context) => {
      context.note('before');
      await operate(context);
      context.note('after');
    });
    const plain = await runCli(['act'], { ...where, commands });
    const lines = plain.stderr.split('\n');
    expect([lines[0], lines.at(-2)]).toEqual(['before', 'after']);
    const tty = await runCli(['act'], { ...where, commands, tty: true, env: { TERM: 'xterm' } });
    expect(tty.stderr.startsWith('before\n\u001B[?25l')).toBe(true);
    expect(tty.stderr.endsWith('\nafter\n')).toBe(true);
  });

  it('and a note is one line, whatever a mount or file in it is called', async () => {
    const commands = acting(async (context) => context.note('  unmount /mnt/a\nhint: b\u001B[2J'));
    const { stderr } = await runCli(['act'], { ...where, commands });
    expect(stderr).toBe('  unmount /mnt/a\\x0ahint: b\\x1b[2J\n');
  });

  it('of a dry run are a plan on standard output', async () => {
    const commands = acting(async (context) => operate(context, false, true));
    const { stdout } = await runCli(['act', '-q'], { ...where, commands });
    expect(stdout).toBe('Plan for boot:\n  + create file /etc/x\n  1 to create\n');
  });
});

describe('confirmation', () => {
  const answers: boolean[] = [];
  const commands = acting(async (context) => {
    answers.push(await context.confirm({ question: 'Remove everything?', yes: false, option: '--yes' }));
  });

  it.each([
    ['y\n', true],
    ['yes\n', true],
    [' Y \n', true],
    ['n\n', false],
    ['\n', false],
    ['', false],
    ['yeah\n', false],
  ])('%j is %s', async (typed, wanted) => {
    const { code, stderr } = await runCli(['act'], { commands, tty: true, typed });
    expect(code).toBe(0);
    expect(stderr.startsWith('Remove everything? [y/N] ')).toBe(true);
    expect(answers.pop()).toBe(wanted);
  });

  it.each([
    ['without a terminal', ['act'], false],
    ['with --no-input', ['act', '--no-input'], true],
  ])('is refused %s, with the command to repeat', async (_name, argv, tty) => {
    const { code, stdout, stderr } = await runCli(argv, { commands, tty, typed: 'y\n', env: { NO_COLOR: '1' } });
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      `error[BKE_CONFIRMATION_NEEDED]: not confirmed: Remove everything?\nhint: Run 'bke ${[...argv, '--yes'].join(' ')}' to confirm.\nsee: bke explain BKE_CONFIRMATION_NEEDED\n`,
    ]);
    expect(answers).toEqual([]);
  });

  it('is given by --yes without asking', async () => {
    const yes = acting(async (context) => {
      answers.push(await context.confirm({ question: 'x', yes: true, option: '--yes' }));
    });
    expect(await runCli(['act'], { commands: yes })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(answers.pop()).toBe(true);
  });
});

describe('signals in process', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s makes an aborted request a cancel with exit code %i', async (name, code) => {
    const listeners = new Map<StopSignal, () => void>();
    const signals: SignalSource = {
      on: (signal, listener) => listeners.set(signal, listener),
      off: (signal) => listeners.delete(signal),
      exit: () => {},
    };
    const commands = acting(async (context) => {
      setTimeout(() => listeners.get(name)?.(), 5);
      await pause(10_000, context.signal).catch(() => context.signal.throwIfAborted());
    });
    const run = await runCli(['act'], { commands, signals });
    expect(run.code).toBe(code);
    expect(run.stderr).toContain('interrupted[BKE_CANCELLED]: stopped');
    expect(listeners.size).toBe(0);
  });

  it('do not turn a finished command into a failure', async () => {
    const listeners = new Map<StopSignal, () => void>();
    const signals: SignalSource = {
      on: (signal, listener) => listeners.set(signal, listener),
      off: () => {},
      exit: () => {},
    };
    const commands = acting(async () => listeners.get('SIGTERM')?.());
    expect((await runCli(['act'], { commands, signals })).code).toBe(0);
  });
});

describe('the process', () => {
  const bke = fileURLToPath(new URL('../../../bin/bke.ts', import.meta.url));

  async function run(
    argv: readonly string[],
    stdout: number | 'pipe',
    closeEarly = false,
  ): Promise<{ code: number | null; stderr: string }> {
    const child = spawn(process.execPath, [bke, ...argv], {
      stdio: ['ignore', stdout, 'pipe'],
      env: { PATH: '/usr/bin:/bin' },
    });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    if (closeEarly) child.stdout?.destroy();
    return new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, stderr }));
    });
  }

  it('is not disturbed by a reader that has enough', async () => {
    expect(await run(['explain'], 'pipe', true)).toEqual({ code: 0, stderr: '' });
  });

  it('runs where the folder it was started in is gone', async () => {
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$0" "$1" version',
      process.execPath,
      bke,
    ]);
    expect(stdout).toContain('bke ');
  });

  it('ends as a bug when something breaks outside of what it waits for', async () => {
    const exits: number[] = [];
    const signals: SignalSource = { on: () => {}, off: () => {}, exit: (code) => exits.push(code) };
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    try {
      const commands = acting(async () => {
        setTimeout(() => {
          throw new TypeError('loose end');
        }, 1);
        await pause(500);
      });
      const { stderr } = await runCli(['act'], { ...where, commands, signals });
      expect(exits).toEqual([70]);
      expect(stderr).toContain('error[BKE_INTERNAL]: loose end');
    } finally {
      for (const listener of others) process.on('uncaughtException', listener);
    }
  });

  it('says that standard output could not be written', async () => {
    const full = openSync('/dev/full', 'w');
    const { code, stderr } = await run(['version'], full);
    closeSync(full);
    expect(code).toBe(1);
    expect(stderr).toContain('error[BKE_SYSTEM]: cannot write to standard output');
  });

  it('tells its version in every way', async () => {
    for (const argv of [['version'], ['--version']]) {
      const { code, stdout } = await runCli(argv);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^bke \d+\.\d+\.\d+\S* \(linux\/(?:amd64|arm64), node \d+\.\d+\.\d+\)\n$/);
    }
    const { stdout } = await runCli(['version', '-o', 'json']);
    expect(Object.keys(Object(JSON.parse(stdout)))).toEqual(['version', 'node', 'platform']);
  });
});
