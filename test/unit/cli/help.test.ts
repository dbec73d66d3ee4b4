import { describe, expect, it } from 'vitest';
import { commands as realCommands } from '../../../src/cli/table.ts';
import { optionsOf } from '../../../src/cli/options.ts';
import { helpCommand } from '../../../src/commands/help/help.ts';
import { topics } from '../../../src/commands/help/topics.ts';
import { checkNames } from '../../../src/lib/check-names.ts';
import { checks } from '../../../src/tasks/preflight/run.ts';
import { fakeCommands } from '../../fakes/commands.ts';
import { runCli } from '../../fakes/cli.ts';

const { commands: fakes } = fakeCommands();
const commands = [...fakes, helpCommand(() => [])];

describe('help', () => {
  it.each([
    ['program', []],
    ['init', ['init', '--help']],
    ['init', ['--help', 'init', '--nonsense']],
    ['bundle', ['bundle', '-h']],
    ['bundle-verify', ['bundle', 'verify', '--help']],
  ])('is as in golden/help-%s.txt', async (name, argv) => {
    const { code, stdout, stderr } = await runCli(argv, { commands });
    expect([code, stderr]).toEqual([0, '']);
    await expect(stdout).toMatchFileSnapshot(`golden/help-${name}.txt`);
  });

  it('is never wider than 100 columns', async () => {
    const pages = [[], ['help', 'topics'], ...topics.map(({ name }) => ['help', name])];
    for (const argv of [...pages, ...realCommands.map((command) => [...command.path, '--help'])]) {
      const { stdout } = await runCli(argv);
      expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    }
  });

  it('breaks a long example so that a shell still reads it as one line', async () => {
    const { stdout } = await runCli(['bundle', 'load', '--help']);
    expect(stdout).toMatch(/^  bke bundle load bundle\.tar --registry .* \\\n    \S.*$/m);
  });

  it.each([
    [['help', 'verify'], "Did you mean 'bke help bundle verify'?"],
    [['explain', 'TIMEOUT'], "Did you mean 'bke explain BKE_TIMEOUT'?"],
    [['explain', 'bke_timout'], "Did you mean 'bke explain BKE_TIMEOUT'?"],
  ])('suggests what bke %j meant', async (argv, hint) => {
    expect((await runCli(argv)).stderr).toContain(hint);
  });

  it('lists its topics', async () => {
    const { stdout } = await runCli(['help', 'topics']);
    for (const { name } of topics) expect(stdout).toContain(`bke help ${name} `);
  });

  it('offers --no-headers only where a list is printed', async () => {
    expect((await runCli(['status', '--help'])).stdout).toContain('--no-headers');
    expect((await runCli(['version', '--help'])).stdout).not.toContain('--no-headers');
    expect((await runCli(['version', '--no-headers'])).code).toBe(2);
  });

  it('shows hidden commands to nobody who does not know them', async () => {
    expect((await runCli([], { commands })).stdout).not.toContain('secret');
    expect((await runCli(['secret', '--help'], { commands })).stdout).toContain('bke secret');
  });

  it.each([...topics.map(({ name }) => name), 'version', 'operation'])('bke help %s', async (word) => {
    const { code, stdout } = await runCli(['help', word]);
    expect(code).toBe(0);
    expect(stdout.split('\n').length).toBeGreaterThan(4);
  });

  it('suggests what was meant', async () => {
    const { code, stderr } = await runCli(['help', 'exit-cods']);
    expect(code).toBe(2);
    expect(stderr).toContain("Did you mean 'bke help exit-codes'?");
  });

  it('goes to standard error in short form where a command lacks something', async () => {
    const { code, stdout, stderr } = await runCli(['bundle', 'build'], { commands });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('  usage: bke bundle build RELEASE --to FILE [options]\n');
  });
});

describe('the command table', () => {
  it('names every check that may be ignored', () => {
    expect(checkNames).toEqual(checks.map(({ name }) => name));
  });

  it('names each command, option and alias once', () => {
    const paths = realCommands.map((command) => command.path.join(' '));
    expect(new Set(paths).size).toBe(paths.length);
    for (const command of realCommands) {
      const names = optionsOf(command).flatMap((option) => [option.name, ...(option.aliases ?? [])]);
      expect(new Set(names).size, command.path.join(' ')).toBe(names.length);
      const shorts = optionsOf(command).flatMap((option) => (option.short === undefined ? [] : [option.short]));
      expect(new Set(shorts).size, command.path.join(' ')).toBe(shorts.length);
    }
  });

  it('has no command that is also the beginning of another', () => {
    const paths = realCommands.map((command) => command.path.join(' '));
    expect(paths.filter((path) => paths.some((other) => other.startsWith(`${path} `)))).toEqual([]);
  });

  it('has a summary without a full stop and an example for every command, and every example is a line bke understands', async () => {
    const { parse } = await import('../../../src/cli/commander.ts');
    const { resolve } = await import('../../../src/cli/resolve.ts');
    for (const command of realCommands) {
      expect(command.summary).not.toMatch(/\.$/);
      expect(command.examples.length, command.path.join(' ')).toBeGreaterThan(0);
      for (const example of command.examples) {
        const line = /(?:^|\()bke ([^|>)]*)/.exec(example.command)?.[1]?.trim() ?? '';
        const resolved = resolve(line === '' ? [] : line.split(/\s+/), realCommands);
        if (resolved.command !== undefined) expect(() => parse(command, resolved.rest), example.command).not.toThrow();
      }
    }
  });
});
