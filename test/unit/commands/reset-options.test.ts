// The command that deletes: none of its options takes a value, nothing of them is guessed, and where one is wrong nothing has run.
import { afterEach, expect, it, vi } from 'vitest';
import { commands } from '../../../src/cli/table.ts';
import { reset } from '../../../src/commands/reset/reset.ts';
import { runCli } from '../../fakes/cli.ts';

afterEach(() => vi.restoreAllMocks());

it('has flags alone', () => {
  expect(reset.options?.map(({ name, type }) => [name, type])).toEqual(
    ['all', 'mount', 'purge-volumes', 'dry-run', 'yes'].map((name) => [name, 'flag']),
  );
  expect([reset.args ?? [], commands.includes(reset)]).toEqual([[], true]);
});

it.each([
  ['reset --al --yes', "error[BKE_UNKNOWN_OPTION]: unknown option '--al'"],
  ['reset extra --yes', "error[BKE_USAGE]: 'extra' is too much: 'bke reset' takes no arguments"],
  ['reset --all=no --yes', "error[BKE_USAGE]: option '--all' takes no value, but 'no' was given"],
  ['reset --mount=/x --yes', "error[BKE_USAGE]: option '--mount' takes no value, but '/x' was given"],
  ['reset --no-mount --yes', "error[BKE_UNKNOWN_OPTION]: unknown option '--no-mount'"],
  ['reset --yes --mount no', "error[BKE_USAGE]: 'no' is too much: 'bke reset' takes no arguments"],
])('bke %s runs nothing', async (line, error) => {
  const run = vi.spyOn(reset, 'run').mockRejectedValue(new Error('it ran'));
  const { code, stdout, stderr } = await runCli(line.split(' '));
  expect([code, stdout, stderr.split('\n')[0]]).toEqual([2, '', error]);
  expect(run).not.toHaveBeenCalled();
});

it.each([
  ['reset --mount --all --dry-run', { all: true, mount: true, dryRun: true }],
  ['reset --dry-run --all --mount', { all: true, mount: true, dryRun: true }],
  ['reset --mount', { all: false, mount: true, dryRun: false }],
])('bke %s means what it says, in any order', async (line, input) => {
  const run = vi.spyOn(reset, 'run').mockResolvedValue({ kind: 'none' });
  expect((await runCli(line.split(' '))).code).toBe(0);
  expect(run.mock.calls[0]?.[1]).toMatchObject(input);
});
