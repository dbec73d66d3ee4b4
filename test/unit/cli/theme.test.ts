import { expect, it } from 'vitest';
import { wantsColor } from '../../../src/cli/theme.ts';
import type { Command } from '../../../src/commands/context.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { runCli } from '../../fakes/cli.ts';

const tty = { isTTY: true, write: () => true };
const pipe = { isTTY: false, write: () => true };

it.each([
  { name: 'a terminal', env: {}, stream: tty, flag: true, wanted: true },
  { name: 'a pipe', env: {}, stream: pipe, flag: true, wanted: false },
  { name: '--no-color', env: { FORCE_COLOR: '1' }, stream: tty, flag: false, wanted: false },
  { name: 'NO_COLOR', env: { NO_COLOR: '1', FORCE_COLOR: '1' }, stream: tty, flag: true, wanted: false },
  { name: 'an empty NO_COLOR', env: { NO_COLOR: '' }, stream: tty, flag: true, wanted: true },
  { name: 'TERM=dumb', env: { TERM: 'dumb' }, stream: tty, flag: true, wanted: false },
  { name: 'FORCE_COLOR on a pipe', env: { FORCE_COLOR: '1' }, stream: pipe, flag: true, wanted: true },
  { name: 'FORCE_COLOR=0 on a terminal', env: { FORCE_COLOR: '0' }, stream: tty, flag: true, wanted: false },
  {
    name: 'CLICOLOR_FORCE on a pipe',
    env: { CLICOLOR_FORCE: '1', TERM: 'dumb' },
    stream: pipe,
    flag: true,
    wanted: true,
  },
])('colours with $name: $wanted', ({ env, stream, flag, wanted }) => {
  expect(wantsColor(env, stream, flag)).toBe(wanted);
});

it('colours errors on a terminal and says the same in words', async () => {
  const run = async (): Promise<never> => {
    throw new BkeError('BKE_TIMEOUT', 'no answer');
  };
  const commands: Command[] = [{ path: ['fail'], group: 'help', summary: 'Fail', examples: [], run }];
  const colored = await runCli(['fail'], { commands, tty: true, env: { TERM: 'xterm' } });
  expect(colored.stderr).toContain('\u001B[');
  const plain = await runCli(['fail', '--no-color'], { commands, tty: true, env: { TERM: 'xterm' } });
  // oxlint-disable-next-line no-control-regex -- colour codes are what is taken out
  expect(plain.stderr).toBe(colored.stderr.replaceAll(/\u001B\[\d+m/g, ''));
});
