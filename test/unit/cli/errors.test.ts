import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodeOf, renderError } from '../../../src/cli/errors.ts';
import { createTheme } from '../../../src/cli/theme.ts';
import type { Command } from '../../../src/commands/context.ts';
import { errorTable, ExitCode } from '../../../src/lib/error-table.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { runCli } from '../../fakes/cli.ts';

const theme = createTheme(false);

function throwing(error: unknown): readonly Command[] {
  const run = async (): Promise<never> => {
    throw error;
  };
  return [{ path: ['fail'], group: 'help', summary: 'Fail', examples: [], output: ['table', 'json'], run }];
}

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bke-errors-'));
});
afterAll(async () => rm(directory, { recursive: true }));

describe('an error', () => {
  it('tells host, message, details, cause, hint and where to read more', () => {
    const error = new BkeError('BKE_COMMAND_FAILED', 'systemctl ended with 1', {
      host: 'w7',
      details: ['line 1', 'line 2'],
      hint: "Look at 'journalctl -u x'.",
      cause: new Error('spawn failed'),
    });
    expect(renderError(error, { theme })).toBe(
      [
        'error[BKE_COMMAND_FAILED]: w7: systemctl ended with 1',
        '  cause: spawn failed',
        '  line 1',
        '  line 2',
        "hint: Look at 'journalctl -u x'.",
        'see: bke explain BKE_COMMAND_FAILED',
        '',
      ].join('\n'),
    );
  });

  it('is none where a person stopped it, and is not red then', () => {
    const details = ['watch it again:  bke operation attach x', 'stop it:         bke operation cancel x'];
    const error = new BkeError('BKE_DETACHED', 'no longer watching; the operation x goes on', { details });
    expect(renderError(error, { theme })).toBe(
      [
        'interrupted[BKE_DETACHED]: no longer watching; the operation x goes on',
        '  watch it again:  bke operation attach x',
        '  stop it:         bke operation cancel x',
        'see: bke explain BKE_DETACHED',
        '',
      ].join('\n'),
    );
    const red = '\u001B[31m';
    const colored = { theme: createTheme(true) };
    expect(renderError(new BkeError('BKE_CANCELLED', 'stopped'), colored)).not.toContain(red);
    expect(renderError(new BkeError('BKE_TIMEOUT', 'too late'), colored)).toContain(red);
  });

  it('cannot move the cursor or hide a line, whatever a host answered', () => {
    const error = new BkeError('BKE_COMMAND_FAILED', 'bad\u001B[2Jname\rX', { details: ['\u001B[31mred\u0007'] });
    expect(renderError(error, { theme })).toBe(
      'error[BKE_COMMAND_FAILED]: bad\\x1b[2Jname\\x0dX\n  red\nsee: bke explain BKE_COMMAND_FAILED\n',
    );
  });

  it('of several lines has its first beside the code and the others under it', () => {
    const error = new BkeError('BKE_COMMAND_FAILED', 'kubeadm ended with 1:\nport 6443 is in use\r\nand 2379 too\n', {
      hint: 'Stop what listens there:\nss -ltnp',
    });
    expect(renderError(error, { theme })).toBe(
      [
        'error[BKE_COMMAND_FAILED]: kubeadm ended with 1:',
        '  port 6443 is in use',
        '  and 2379 too',
        'hint: Stop what listens there:',
        '      ss -ltnp',
        'see: bke explain BKE_COMMAND_FAILED',
        '',
      ].join('\n'),
    );
  });

  it('of several hosts in different words is told with its mend once, under all of them', () => {
    const errors = ['10.0.0.1', '10.0.0.2'].map(
      (address, i) =>
        new BkeError('BKE_SSH_UNREACHABLE', `cannot reach ${address}`, { host: `w${i}`, hint: 'Is it on?' }),
    );
    const other = new BkeError('BKE_TIMEOUT', 'no answer');
    const [first, second] = errors;
    expect(renderError(new AggregateError([first, other, second]), { theme })).toBe(
      [
        'error[BKE_SSH_UNREACHABLE]: w0: cannot reach 10.0.0.1',
        'error[BKE_SSH_UNREACHABLE]: w1: cannot reach 10.0.0.2',
        'hint: Is it on?',
        'see: bke explain BKE_SSH_UNREACHABLE',
        'error[BKE_TIMEOUT]: no answer',
        'see: bke explain BKE_TIMEOUT',
        '',
      ].join('\n'),
    );
  });

  it('of many hosts is told once with the hosts it happened on', () => {
    const errors = Array.from(
      { length: 12 },
      (_, i) => new BkeError('BKE_TIMEOUT', 'no answer', { host: `w${i}`, hint: 'Wake it.' }),
    );
    const other = new BkeError('BKE_COMMAND_FAILED', 'no space left', { host: 'cp1' });
    const text = renderError(new AggregateError([...errors, other]), { theme });
    expect(text).toBe(
      [
        'error[BKE_TIMEOUT]: no answer',
        '  on 12 hosts: w0, w1, w2, w3, w4, w5, w6, w7 and 4 more',
        'hint: Wake it.',
        'see: bke explain BKE_TIMEOUT',
        'error[BKE_COMMAND_FAILED]: cp1: no space left',
        'see: bke explain BKE_COMMAND_FAILED',
        '',
      ].join('\n'),
    );
  });

  it('ends with the exit code of its table entry, of several that differ with 1', () => {
    const timeout = new BkeError('BKE_TIMEOUT', 'x');
    expect(exitCodeOf(timeout)).toBe(6);
    expect(exitCodeOf(new AggregateError([timeout, timeout]))).toBe(6);
    expect(exitCodeOf(new AggregateError([timeout, new BkeError('BKE_USAGE', 'x')]))).toBe(1);
    expect(exitCodeOf(new TypeError('x'))).toBe(70);
    const [checks, login] = [new BkeError('BKE_PREFLIGHT_FAILED', 'x'), new BkeError('BKE_SSH_AUTH', 'x')];
    expect(exitCodeOf(new AggregateError([checks, login]))).toBe(5);
  });

  it('is one line of JSON on standard error with -o json, and standard output stays empty', async () => {
    const commands = throwing(new BkeError('BKE_TIMEOUT', 'no answer', { host: 'w1', hint: 'Wake it.' }));
    const { code, stdout, stderr } = await runCli(['fail', '-o', 'json'], { commands });
    expect([code, stdout]).toEqual([6, '']);
    expect(JSON.parse(stderr)).toEqual({
      kind: 'Error',
      exitCode: 6,
      errors: [{ code: 'BKE_TIMEOUT', message: 'no answer', host: 'w1', hint: 'Wake it.' }],
    });
  });

  it('nobody foresaw says that it is a bug and where its stack is, with logins taken out', async () => {
    const error = new TypeError('boom https://user:canary@host/');
    const run = await runCli(['fail'], { commands: throwing(error), operationsDirectory: join(directory, 'ops') });
    expect([run.code, run.stdout]).toEqual([70, '']);
    expect(run.stderr).toContain('error[BKE_INTERNAL]: boom');
    expect(run.stderr).toContain('This is a bug in bke, not something you did.');
    const path = /is in (\S+);/.exec(run.stderr)?.[1] ?? '';
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const log = await readFile(path, 'utf8');
    expect(log).toContain('errors.test.ts');
    expect(log).toContain('command: bke fail');
    expect(log).not.toContain('canary');
  });

  it('nobody foresaw is told also where no log can be written', async () => {
    const run = await runCli(['fail'], {
      commands: throwing(new TypeError('boom')),
      operationsDirectory: '/proc/nowhere',
    });
    expect(run.code).toBe(70);
    expect(run.stderr).not.toContain('is in /');
  });

  it('of the operating system is no bug', async () => {
    const error: unknown = await readFile('/nowhere/file').catch((caught: unknown) => caught);
    const run = await runCli(['fail'], { commands: throwing(error), operationsDirectory: directory });
    expect(run).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'error[BKE_SYSTEM]: open /nowhere/file: no such file or directory (ENOENT)\nsee: bke explain BKE_SYSTEM\n',
    });
  });
});

describe('the error table', () => {
  it.each(Object.entries(errorTable))('%s is explained', async (code, { title, explanation, exit }) => {
    expect(code).toMatch(/^BKE_[A-Z0-9_]+$/);
    expect(title).toMatch(/^(?:[A-Z]|bke |sudo ).*[^.]$/);
    expect(explanation.length).toBeGreaterThan(40);
    expect(explanation).toMatch(/\.$/);
    expect(Object.values(ExitCode)).toContain(exit);
    const { code: exitCode, stdout } = await runCli(['explain', code]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(title);
  });

  it('has no code that nothing throws', async () => {
    const root = fileURLToPath(new URL('../../../src/', import.meta.url));
    const names = (await readdir(root, { recursive: true })).filter(
      (name) => name.endsWith('.ts') && !name.startsWith('lib/error-table'),
    );
    const sources = (await Promise.all(names.map(async (name) => readFile(join(root, name), 'utf8')))).join('');
    expect(Object.keys(errorTable).filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  });

  it('is listed by explain, and a misspelt code is refused with the nearest one', async () => {
    const list = await runCli(['explain', '-o', 'name']);
    expect(list.stdout.trim().split('\n')).toEqual(Object.keys(errorTable));
    const { code, stderr } = await runCli(['explain', 'BKE_TIMEOT']);
    expect(code).toBe(2);
    expect(stderr).toContain("Did you mean 'bke explain BKE_TIMEOUT'?");
    expect((await runCli(['explain', 'bke_timeout'])).code).toBe(0);
  });
});
