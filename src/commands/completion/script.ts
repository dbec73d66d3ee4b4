// The completion script of each shell.
import type { CommandSpec } from '../../lib/command.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { completionModel } from './model.ts';
import { zshCompletion } from './zsh.ts';

const makers = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
]);

/** @param shell one of the shells the command's argument takes. */
export function completionScript(shell: string, commands: readonly CommandSpec<never>[]): string {
  const make = makers.get(shell);
  if (make === undefined) throw new Error(`no completion for ${shell}`);
  return make(completionModel(commands));
}
