// What completion scripts are made from: every command with its options, as words.
import type { CommandSpec, OptionSpec } from '../../lib/command.ts';
import { globalOptionsOf } from '../../lib/global-options.ts';

export interface CompletedOption {
  /** --output */
  readonly long: string;
  /** -o */
  readonly short: string | undefined;
  readonly summary: string;
  /** What follows it: nothing, one of these words, a file, or something that can't be known. */
  readonly value: 'none' | 'file' | 'free' | readonly string[];
}

export interface CompletedCommand {
  /** 'bundle build' */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** Words its first argument takes. */
  readonly argument: readonly string[];
}

export interface CompletionModel {
  readonly commands: readonly CompletedCommand[];
  /** Path so far ('' at the beginning) -> next words with their summaries. */
  readonly children: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export function completionModel(commands: readonly CommandSpec<never>[]): CompletionModel {
  const visible = commands.filter((command) => command.hidden !== true);
  const children = new Map<string, Map<string, string>>();
  for (const { path, summary } of visible) {
    for (const [i, word] of path.entries()) {
      const parent = path.slice(0, i).join(' ');
      const words = children.get(parent) ?? new Map<string, string>();
      const isCommand = i === path.length - 1;
      if (isCommand || !words.has(word)) words.set(word, isCommand ? summary : `commands of ${word}`);
      children.set(parent, words);
    }
  }
  return { children, commands: visible.map(completedCommand) };
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
    argument: firstArgumentWords(spec),
  };
}

function firstArgumentWords(spec: CommandSpec<never>): readonly string[] {
  const [first] = spec.args ?? [];
  const words = first?.choices ?? first?.suggestions;
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
  return option.type === 'path' ? 'file' : 'free';
}

/** In single quotes, as every shell here reads them but for the quote itself. */
export function quoted(text: string, escapedQuote: string): string {
  return `'${text.replaceAll("'", escapedQuote)}'`;
}
