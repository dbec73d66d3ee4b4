// The command line that was typed, with one option more: what a person is told to run instead keeps all that was given.
import { shellCommand } from './quote.ts';

/** @param argv words typed after `bke`. @param option e.g. --yes; before `--`, after which options are none */
export function sameCommand(argv: readonly string[], option: string): string {
  const end = argv.indexOf('--');
  const at = end === -1 ? argv.length : end;
  return shellCommand(['bke', ...argv.slice(0, at), option, ...argv.slice(at)]);
}
