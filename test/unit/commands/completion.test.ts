import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands as realCommands } from '../../../src/cli/table.ts';
import { completionScript } from '../../../src/commands/completion/script.ts';
import { fakeCommands } from '../../fakes/commands.ts';
import { runCli } from '../../fakes/cli.ts';

const exec = promisify(execFile);
const { commands } = fakeCommands();

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bke-completion-'));
  await writeFile(join(directory, 'bundle.tar'), '');
  await mkdir(join(directory, 'bin'));
  const bke = `#!/bin/sh\necho "$*" > '${directory}/asked'\nprintf 'alpha\\nbeta-1\\n$(touch made)\\n'\n`;
  await writeFile(join(directory, 'bin/bke'), bke, { mode: 0o755 });
});
afterAll(async () => rm(directory, { recursive: true }));

async function scriptFile(shell: string, table = commands): Promise<string> {
  const path = join(directory, `${shell}-${table.length}`);
  await writeFile(path, completionScript(shell, table));
  return path;
}

/** What bash itself would offer for the words, the last of which is being typed. */
async function inBash(words: readonly string[], table = commands): Promise<string[]> {
  const path = await scriptFile('bash', table);
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bke; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await exec('bash', ['-c', program, 'bash', path, ...words], {
    cwd: directory,
    env: { ...process.env, PATH: `${join(directory, 'bin')}:${process.env['PATH']}` },
  });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it.each([
    [
      ['bke', ''],
      ['init', 'reset', 'bundle'],
    ],
    [['bke', 're'], ['reset']],
    [
      ['bke', 'bundle', ''],
      ['build', 'verify'],
    ],
    [['bke', '-q', 'bundle', 'v'], ['verify']],
    [['bke', 'reset', '--a'], ['--all']],
    [['bke', 'reset', '--all', '--m'], ['--mount']],
    [
      ['bke', 'init', '--bootstrap', ''],
      ['k3s', 'kubeadm'],
    ],
    [['bke', 'init', '--bootstrap', '=', 'ku'], ['kubeadm']],
    [
      ['bke', 'init', '--bootstrap', '='],
      ['k3s', 'kubeadm'],
    ],
    [
      ['bke', 'bundle', 'build', '-o', ''],
      ['table', 'json', 'yaml'],
    ],
    [['bke', 'init', '-o', ''], ['json']],
    [['bke', 'init', '--bundle', 'bun'], ['bundle.tar']],
    [['bke', 'init', '--host-ip', ''], []],
    [['bke', 'sec'], []],
    [['bke', 'init', '--host-'], ['--host-ip']],
  ])('%j', async (words, wanted) => {
    expect(await inBash(words)).toEqual(wanted);
  });

  it.each([
    [['bke', 'help', 'bu'], ['bundle']],
    [['bke', 'help', 'exit'], ['exit-codes']],
    [
      ['bke', 'help', 'bundle', ''],
      ['build', 'verify', 'inspect', 'load'],
    ],
    [['bke', 'help', 'help', ''], []],
    [['bke', 'explain', 'BKE_TIMEO'], ['BKE_TIMEOUT']],
    [['bke', 'init', '--ignore-check', 'fire'], ['firewall']],
  ])('of the real commands: %j', async (words, wanted) => {
    expect(await inBash(words, [...realCommands])).toEqual(wanted);
  });

  it.each([
    [['bke', 'cluster', 'describe', ''], 'cluster list -o name', ['alpha', 'beta-1']],
    [['bke', 'operation', 'show', 'be'], 'operation list -o name', ['beta-1']],
    [['bke', 'host', 'exec', '--host', 'a'], 'host list -o name', ['alpha']],
  ])('of what is there, as a list command names it: %j', async (words, asked, wanted) => {
    expect(await inBash(words, [...realCommands])).toEqual(wanted);
    expect(await readFile(join(directory, 'asked'), 'utf8')).toBe(`${asked}\n`);
  });

  it('parses', async () => {
    await exec('bash', ['-n', await scriptFile('bash', [...realCommands])]);
  });
});

async function available(shell: string): Promise<boolean> {
  return exec(shell, ['-c', 'true']).then(
    () => true,
    () => false,
  );
}

describe('completion in fish', () => {
  it('offers what bash offers', async (test) => {
    test.skip(!(await available('fish')), 'fish is not installed here');
    const path = await scriptFile('fish');
    const offered = async (line: string): Promise<string[]> => {
      const program = 'source $argv[1]; complete -C $argv[2]';
      const { stdout } = await exec('fish', ['--no-config', '-c', program, path, line], {
        cwd: directory,
        env: { ...process.env, HOME: directory },
      });
      return stdout.split('\n').flatMap((row) => (row === '' ? [] : [row.split('\t')[0] ?? '']));
    };
    expect((await offered('bke ')).toSorted()).toEqual(['bundle', 'init', 'reset']);
    expect((await offered('bke -q bundle ')).toSorted()).toEqual(['build', 'verify']);
    expect(await offered('bke reset --a')).toEqual(['--all']);
    expect((await offered('bke init --bootstrap ')).toSorted()).toEqual(['k3s', 'kubeadm']);
    expect(await offered('bke init --bundle bun')).toEqual(['bundle.tar']);
  });
});

describe('completion in zsh', () => {
  it('parses, and offers what bash offers', async (test) => {
    test.skip(!(await available('zsh')), 'zsh is not installed here');
    const path = await scriptFile('zsh');
    await exec('bash', ['-n', path]);
    await exec('zsh', ['-n', await scriptFile('zsh', [...realCommands])]);
    const offered = async (...words: string[]): Promise<string[]> => {
      // zsh's own helpers are put in place by ones that print what they would offer.
      const program = `compdef() { : }; compset() { : }; _files() { print files: }; _message() { print free: }
        _describe() { print -l -- \${(P)\${@[-1]}} }
        source "$1"; shift; words=("$@"); CURRENT=$#; _bke`;
      const { stdout } = await exec('zsh', ['-f', '-c', program, 'zsh', path, ...words]);
      return stdout.split('\n').flatMap((row) => (row === '' ? [] : [row.split(':')[0] ?? '']));
    };
    expect(await offered('bke', '')).toEqual(['init', 'reset', 'bundle']);
    expect(await offered('bke', '-q', 'bundle', '')).toEqual(['build', 'verify']);
    expect(await offered('bke', 'reset', '--')).toContain('--mount');
    expect(await offered('bke', 'init', '--bootstrap', '')).toEqual(['k3s', 'kubeadm']);
    expect(await offered('bke', 'init', '--bundle', '')).toEqual(['files']);
  });
});

it('is printed by bke completion for each shell it knows, and refused for others', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runCli(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toBe(completionScript(shell, realCommands));
  }
  const { code, stderr } = await runCli(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain("error[BKE_USAGE]: SHELL is bash, zsh or fish, not 'tcsh'");
});
