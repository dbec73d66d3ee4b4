// The only file that knows the parser: command table -> commander -> typed input.
import { Argument, Command as Parser, CommanderError, Option } from 'commander';
import type { ArgumentSpec, CommandInput, CommandSpec, OptionSpec, OutputFormat, ValueOption } from '../lib/command.ts';
import { BkeError } from '../lib/errors.ts';
import { type GlobalValues, progressModes } from '../lib/global-options.ts';
import { type InputReader, readInput } from '../lib/input.ts';
import { shellCommand } from '../lib/quote.ts';
import { camelCase, listed, plural } from '../lib/text.ts';
import { usageLine } from '../commands/help/usage.ts';
import { indexOptions, optionsOf } from './options.ts';
import { badArgument, badChoice, typedValue } from './values.ts';
import { readWords, type Words } from './words.ts';

type Spec = CommandSpec<never>;

export interface Parsed {
  readonly input: CommandInput;
  readonly globals: GlobalValues;
}

/**
 * @param words what was typed after the command's own words.
 * @throws BkeError with exit code 2; nothing has happened then.
 */
export function parse(spec: Spec, words: readonly string[]): Parsed {
  const options = optionsOf(spec);
  const read = readWords(words, indexOptions(options), `bke help ${spec.path.join(' ')}`);
  const wrong = wrongWords(spec, options, read);
  if (wrong !== undefined) throw usageError(spec, wrong, meantOption(spec, options, read));
  const parser = parserFor(spec, options);
  try {
    parser.parse([...read.options, '--', ...read.operands], { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError
      ? usageError(spec, error.message.replace(/^error: /, ''))
      : hinted(spec, error);
  }
  const values: Record<string, unknown> = parser.opts();
  const input: Record<string, unknown> = {};
  for (const option of spec.options ?? []) input[camelCase(option.name)] = values[camelCase(option.name)];
  for (const [i, argument] of (spec.args ?? []).entries()) input[camelCase(argument.name)] = parser.processedArgs[i];
  try {
    return { input, globals: globalsOf(spec, readInput(values)) };
  } catch (error) {
    throw hinted(spec, error);
  }
}

/** What is missing, or too much; all that is missing at once. */
function wrongWords(
  spec: Spec,
  options: readonly OptionSpec[],
  { options: given, operands }: Words,
): string | undefined {
  const args = spec.args ?? [];
  const missing = [
    ...args.flatMap((arg, i) => (arg.optional === true || i < operands.length ? [] : [arg.name.toUpperCase()])),
    ...options.flatMap((option) => (isMissing(option, given) ? [`--${option.name} ${option.placeholder}`] : [])),
  ];
  if (missing.length > 0) return `${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} missing`;
  const extra = args.at(-1)?.variadic === true ? undefined : operands[args.length];
  if (extra === undefined) return undefined;
  const takes = args.length === 0 ? 'no arguments' : plural(args.length, 'argument');
  return `'${extra}' is too much: 'bke ${spec.path.join(' ')}' takes ${takes}`;
}

/** Of a file that stands where an option should be before it: the option that is missing. */
function meantOption(
  { args = [] }: Spec,
  options: readonly OptionSpec[],
  { options: given, operands }: Words,
): string | undefined {
  const [extra, ...more] = operands.slice(args.length);
  if (extra === undefined || more.length > 0) return undefined;
  const [option, ...others] = options.filter((one) => isMissing(one, given));
  if (option?.type !== 'path' || others.length > 0) return undefined;
  return shellCommand([option.short === undefined ? `--${option.name}` : `-${option.short}`, extra]);
}

function isMissing(option: OptionSpec, given: readonly string[]): option is ValueOption {
  if (option.type === 'flag' || option.required !== true || option.default !== undefined) return false;
  return !given.some((word) => word.startsWith(`--${option.name}=`));
}

/** Errors of one value know nothing of the command: where they have no hint, its help is one. */
function hinted(spec: Spec, error: unknown): unknown {
  if (!(error instanceof BkeError) || error.hint !== undefined) return error;
  const hint = `'bke help ${spec.path.join(' ')}' tells what each option takes.`;
  return new BkeError(error.code, error.message, { details: error.details, hint, cause: error.cause });
}

function globalsOf(spec: Spec, values: InputReader): GlobalValues {
  const mode = values.text('progress');
  return {
    // A command without formats may have an --output of its own.
    output: spec.output?.length === 0 ? undefined : outputFormat(spec, values.text('output')),
    headers: spec.list !== true || values.flag('headers'),
    quiet: values.flag('quiet'),
    verbose: values.count('verbose'),
    progress: progressModes.find((known) => known === mode) ?? 'auto',
    color: values.flag('color'),
    input: values.flag('input'),
  };
}

function parserFor(spec: Spec, options: readonly OptionSpec[]): Parser {
  const parser = new Parser(`bke ${spec.path.join(' ')}`)
    .exitOverride()
    .helpOption(false)
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: () => {}, writeErr: () => {} });
  for (const argument of spec.args ?? []) parser.addArgument(argumentFor(argument));
  for (const option of options) addOption(parser, option);
  return parser;
}

function argumentFor(spec: ArgumentSpec): Argument {
  const name = spec.variadic === true ? `${spec.name}...` : spec.name;
  const argument = new Argument(spec.optional === true ? `[${name}]` : `<${name}>`);
  const { choices } = spec;
  if (choices === undefined) return argument;
  return argument.argParser((text) => {
    if (!choices.includes(text)) throw badArgument(spec.name, text, choices);
    return text;
  });
}

function addOption(parser: Parser, option: OptionSpec): void {
  if (option.type === 'flag') {
    const attribute = camelCase(option.name);
    if (option.default === true) parser.addOption(new Option(`--no-${option.name}`));
    const flag = new Option(`--${option.name}`).default(option.repeatable === true ? 0 : (option.default ?? false));
    parser.addOption(flag);
    if (option.repeatable === true) {
      let count = 0;
      parser.on(`option:${option.name}`, () => {
        count += 1;
        parser.setOptionValue(attribute, count);
      });
    }
    return;
  }
  const initial = option.default;
  const value = new Option(`--${option.name} <${option.placeholder}>`);
  if (option.repeatable === true) {
    const given: (string | number)[] = [];
    value.default(initial === undefined ? [] : [initial]).argParser((text) => {
      given.push(typedValue(option, text));
      return given;
    });
  } else value.default(initial).argParser((text) => typedValue(option, text));
  parser.addOption(value);
}

/** A command that only acts takes -o json alone: its events. */
function outputFormat(spec: Spec, text: string | undefined): OutputFormat | undefined {
  const choices: readonly OutputFormat[] = spec.output ?? ['json'];
  const format = choices.find((choice) => choice === text);
  if (text !== undefined && format === undefined) throw badChoice('--output', text, choices);
  return format;
}

function usageError(spec: Spec, message: string, meant?: string): BkeError {
  const examples = spec.examples.slice(0, 2).map((example) => `example: ${example.command}`);
  return new BkeError('BKE_USAGE', message.replace(/\.$/, ''), {
    details: [`usage: ${usageLine(spec)}`, ...examples],
    hint: `${meant === undefined ? '' : `Did you mean '${meant}'? `}'bke help ${spec.path.join(' ')}' tells all.`,
  });
}
