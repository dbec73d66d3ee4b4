// What completion scripts are made from: every command with its options, as words.
import type { ArgumentSpec, CommandSpec, OptionSpec } from '../../lib/command.ts';
import { globalOptionsOf } from '../../lib/global-options.ts';

export interface CompletedOption {
  /** --output */
  readonly long: string;
  /** -o */
  readonly short: string | undefined;
  readonly summary: string;
  /** What follows it: nothing, one of these words, a file, what a list command names, or something that can't be known. */
  readonly value: 'none' | 'file' | 'free' | readonly string[] | NamesFrom;
}

export interface NamesFrom {
  /** 'host list' */
  readonly namesFrom: string;
}

export interface CompletedCommand {
  /** 'bundle build' */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** Words its first argument takes, or the list command that names them. */
  readonly argument: readonly string[] | NamesFrom;
}

export interface CompletionModel {
  readonly commands: readonly CompletedCommand[];
  /** Path so far ('' at the beginning) -> next words with their summaries. */
  readonly children: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Each path that `children` leads to. */
  readonly paths: readonly string[];
}

/**
 * A function of bash and zsh: what a list command names, where it can tell so at once. Only plain letters: bash reads words
 * it is given as a program.
 */
export const namesFunction = `_bke_names() {
  timeout 2 bke "$@" -o name </dev/null 2>/dev/null | grep -x '[A-Za-z0-9._-]*'
}`;

export function completionModel(commands: readonly CommandSpec<never>[]): CompletionModel {
  const visible = commands.filter((command) => command.hidden !== true);
  const children = childrenOf(visible);
  for (const { path, args } of visible) {
    const [first] = args ?? [];
    if (first?.commandWords === true) addCommandWords(children, path.join(' '), first);
  }
  const paths = [...children].flatMap(([path, words]) => [...words.keys()].map((word) => joined(path, word)));
  return { children, paths, commands: visible.map(completedCommand) };
}

type Children = Map<string, Map<string, string>>;

function childrenOf(visible: readonly CommandSpec<never>[]): Children {
  const children: Children = new Map();
  for (const { path, summary } of visible) {
    for (const [i, word] of path.entries()) {
      const parent = path.slice(0, i).join(' ');
      const words = children.get(parent) ?? new Map<string, string>();
      const isCommand = i === path.length - 1;
      if (isCommand || !words.has(word)) words.set(word, isCommand ? summary : `commands of ${word}`);
      children.set(parent, words);
    }
  }
  return children;
}

/** Below `path` once more all that is below the program, and the argument's own words. */
function addCommandWords(children: Children, path: string, argument: ArgumentSpec): void {
  const own = wordsOf(argument).map((word) => [word, argument.summary] as const);
  const all = new Map(children);
  for (const [parent, words] of all) children.set(joined(path, parent), new Map(words));
  children.set(path, new Map([...own, ...(children.get(path) ?? [])]));
}

function joined(path: string, word: string): string {
  return [path, word].filter((part) => part !== '').join(' ');
}

function completedCommand(spec: CommandSpec<never>): CompletedCommand {
  const formats = spec.output ?? ['json'];
  const globals = globalOptionsOf(spec).map((option): CompletedOption => {
    return option.name === 'output' ? { ...completedOption(option), value: formats } : completedOption(option);
  });
  const own = (spec.options ?? []).filter((option) => option.hidden !== true).map(completedOption);
  return {
    path: spec.path.join(' '),
    summary: spec.summary,
    options: [...own, ...globals],
    argument: firstArgument(spec),
  };
}

function firstArgument(spec: CommandSpec<never>): CompletedCommand['argument'] {
  const [first] = spec.args ?? [];
  if (first?.namesFrom !== undefined) return { namesFrom: first.namesFrom };
  return first === undefined || first.commandWords === true ? [] : wordsOf(first);
}

function wordsOf({ choices, suggestions }: ArgumentSpec): readonly string[] {
  const words = choices ?? suggestions;
  return typeof words === 'function' ? words() : (words ?? []);
}

function completedOption(option: OptionSpec): CompletedOption {
  const off = option.type === 'flag' && option.default === true;
  return {
    long: `--${off ? 'no-' : ''}${option.name}`,
    short: option.short === undefined ? undefined : `-${option.short}`,
    summary: option.summary,
    value: valueOf(option),
  };
}

function valueOf(option: OptionSpec): CompletedOption['value'] {
  if (option.type === 'flag') return 'none';
  if (option.choices !== undefined) return option.choices;
  if (option.namesFrom !== undefined) return { namesFrom: option.namesFrom };
  return option.type === 'path' ? 'file' : 'free';
}

/** In single quotes, as every shell here reads them but for the quote itself. */
export function quoted(text: string, escapedQuote: string): string {
  return `'${text.replaceAll("'", escapedQuote)}'`;
}
