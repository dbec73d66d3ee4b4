import { expect, it } from 'vitest';
import { wantsColor } from '../../../src/cli/theme.ts';
import type { Command } from '../../../src/commands/context.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { runCli } from '../../fakes/cli.ts';

const tty = { isTTY: true, write: () => true };
const pipe = { isTTY: false, write: () => true };

it.each([
  ['a terminal', {}, tty, true, true],
  ['a pipe', {}, pipe, true, false],
  ['--no-color', { FORCE_COLOR: '1' }, tty, false, false],
  ['NO_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, tty, true, false],
  ['an empty NO_COLOR', { NO_COLOR: '' }, tty, true, true],
  ['TERM=dumb', { TERM: 'dumb' }, tty, true, false],
  ['FORCE_COLOR on a pipe', { FORCE_COLOR: '1' }, pipe, true, true],
  ['FORCE_COLOR=0 on a terminal', { FORCE_COLOR: '0' }, tty, true, false],
  ['CLICOLOR_FORCE on a pipe', { CLICOLOR_FORCE: '1', TERM: 'dumb' }, pipe, true, true],
])('colours with %s', (_name, env, stream, flag, wanted) => {
  expect(wantsColor(env, stream, flag)).toBe(wanted);
});

it('colours errors on a terminal and says the same in words', async () => {
  const run = async (): Promise<never> => Promise.reject(new BkeError('BKE_TIMEOUT', 'no answer'));
  const commands: Command[] = [{ path: ['fail'], group: 'help', summary: 'Fail', examples: [], run }];
  const colored = await runCli(['fail'], { commands, tty: true, env: { TERM: 'xterm' } });
  expect(colored.stderr).toContain('\u001B[');
  const plain = await runCli(['fail', '--no-color'], { commands, tty: true, env: { TERM: 'xterm' } });
  // oxlint-disable-next-line no-control-regex -- colour codes are what is taken out
  expect(plain.stderr).toBe(colored.stderr.replaceAll(/\u001B\[\d+m/g, ''));
});
