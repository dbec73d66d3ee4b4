// Finds the command the first words name, and says what was meant where they name none.
import type { CommandSpec } from '../lib/command.ts';
import { BkeError } from '../lib/errors.ts';
import { nearest } from '../lib/suggest.ts';
import { notYet } from './not-yet.ts';
import { indexOptions, optionsOf } from './options.ts';

type Spec = CommandSpec<never>;

export interface Resolved<S> {
  /** The command, or undefined where the words stop at a noun (`bke bundle`) or at nothing (`bke`). */
  readonly command: S | undefined;
  readonly path: readonly string[];
  /** All words but those of the path. */
  readonly rest: readonly string[];
  readonly help: boolean;
}

/** @throws BkeError BKE_UNKNOWN_COMMAND, BKE_UNKNOWN_OPTION */
export function resolve<S extends Pick<Spec, 'path' | 'hidden'>>(
  words: readonly string[],
  commands: readonly S[],
): Resolved<S> {
  const help = asksForHelp(words);
  if (words[0] === '--version') return resolve(['version', ...words.slice(1)], commands);
  const path: string[] = [];
  const rest: string[] = [];
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? '';
    if (word === '--') break;
    if (word.startsWith('-')) {
      const taken = leadingOption(words, at, path);
      rest.push(...words.slice(at, at + taken));
      at += taken;
      continue;
    }
    if (!commands.some((command) => startsWith(command.path, [...path, word])))
      throw unknownCommand(path, word, commands);
    path.push(word);
    at += 1;
    const command = commands.find((candidate) => same(candidate.path, path));
    if (command !== undefined) return { command, path, rest: [...rest, ...words.slice(at)], help };
  }
  return { command: undefined, path, rest, help };
}

function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? words.length : end).some((word) => word === '--help' || word === '-h');
}

/** How many words an option before the command takes. Only global ones may stand there: of others it is not known whether they take a value. */
function leadingOption(words: readonly string[], at: number, path: readonly string[]): number {
  const index = indexOptions(optionsOf(undefined));
  const word = words[at] ?? '';
  const name = word.split('=', 1)[0] ?? word;
  const known = name.startsWith('--') ? index.long.get(name) : index.short.get(name[1] ?? '');
  if (known === undefined) {
    throw new BkeError('BKE_UNKNOWN_OPTION', `unknown option '${name}' before the command`, {
      hint: `Options of a command come after it: 'bke ${[...path, 'COMMAND'].join(' ')} ${name}'.`,
    });
  }
  if (known.option.type === 'flag') return 1;
  const attached = word.includes('=') || (!name.startsWith('--') && name.length > 2);
  return attached ? 1 : 2;
}

function unknownCommand(
  path: readonly string[],
  word: string,
  commands: readonly Pick<Spec, 'path' | 'hidden'>[],
): BkeError {
  const name = [...path, word].join(' ');
  const instead = notYet[name];
  if (instead !== undefined)
    return new BkeError('BKE_UNKNOWN_COMMAND', `'bke ${name}' is not there yet`, { hint: instead });
  const visible = commands.filter((command) => command.hidden !== true);
  const siblings = new Set(visible.filter((c) => startsWith(c.path, path)).map((c) => c.path[path.length] ?? ''));
  const sibling = nearest(word, [...siblings]);
  const verb = visible.find((command) => command.path.at(-1) === word);
  const meant = sibling === undefined ? verb?.path : [...path, sibling];
  const help = `'bke help${path.map((p) => ` ${p}`).join('')}' lists the commands.`;
  return new BkeError('BKE_UNKNOWN_COMMAND', `unknown command '${name}'`, {
    hint: meant === undefined ? help : `Did you mean 'bke ${meant.join(' ')}'? ${help}`,
  });
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((word, i) => path[i] === word);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}
