// Rows of lists on a narrow terminal.
import { expect, it } from 'vitest';
import { fitRow } from '../../../src/cli/fit-row.ts';
import type { Command } from '../../../src/commands/context.ts';
import { runCli } from '../../fakes/cli.ts';

const row =
  '  bundle              testbed-full 0.1.0, Kubernetes v1.36.3, 826 MiB, signature trusted  (/root/bundle.tar)';

it('a value that is too long goes on below its own beginning', () => {
  expect(fitRow(row, 80)).toBe(
    [
      '  bundle              testbed-full 0.1.0, Kubernetes v1.36.3, 826 MiB, signature',
      '                      trusted  (/root/bundle.tar)',
    ].join('\n'),
  );
  expect(fitRow('  host IP             10.213.100.11  (found)', 80)).toBe(
    '  host IP             10.213.100.11  (found)',
  );
});

it.each([
  ['of which there is room for', row, 200],
  ['on a terminal too narrow for a list', row, 30],
  ['that is no row, with a command to copy', `Run 'bke reset --all --mount --yes' ${'x'.repeat(80)} or not`, 80],
  ['that is a command', `  bke cluster create -f cluster.yaml --kubeconfig ${'x'.repeat(60)} --yes`, 80],
])('a line %s stays whole', (_name, line, columns) => {
  expect(fitRow(line, columns)).toBe(line);
});

it.each([
  [true, '  name      x x x'],
  [false, `  name      ${'x '.repeat(60).trim()}`],
])('lines are fitted to a terminal and not to a log (terminal: %s)', async (tty, begins) => {
  const act: Command = {
    path: ['act'],
    group: 'help',
    summary: 'Act',
    examples: [],
    run: async (context) => {
      context.note(`  name      ${'x '.repeat(60).trim()}`);
      return { kind: 'none' };
    },
  };
  const { stderr } = await runCli(['act'], { commands: [act], tty });
  expect(stderr.startsWith(begins)).toBe(true);
  expect(stderr.split('\n')).toHaveLength(tty ? 3 : 2);
});
