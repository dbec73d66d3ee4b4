// Reads option words strictly: nothing is shortened or guessed, and no option swallows another (tj/commander.js#61, #2338).
import { BkeError } from '../lib/errors.ts';
import { nearest } from '../lib/suggest.ts';
import { type KnownOption, type OptionIndex, shownName } from './options.ts';

export interface Words {
  /** Options only, one word each: `--name`, `--no-name` or `--name=value`, by their proper names. */
  readonly options: readonly string[];
  readonly operands: readonly string[];
}

interface Reader {
  readonly words: readonly string[];
  readonly index: OptionIndex;
  /** For hints, e.g. `bke help reset`. */
  readonly help: string;
  readonly options: string[];
  readonly operands: string[];
  readonly seen: Set<string>;
  at: number;
}

/** @throws BkeError BKE_UNKNOWN_OPTION, BKE_USAGE */
export function readWords(words: readonly string[], index: OptionIndex, help: string): Words {
  const reader: Reader = { words, index, help, options: [], operands: [], seen: new Set(), at: 0 };
  while (reader.at < words.length) {
    const word = words[reader.at] ?? '';
    reader.at += 1;
    if (word === '--') {
      reader.operands.push(...words.slice(reader.at));
      break;
    }
    if (word.startsWith('--')) readLong(reader, word);
    else if (word.startsWith('-') && word.length > 1) readShort(reader, word);
    else reader.operands.push(word);
  }
  return { options: reader.options, operands: reader.operands };
}

function readLong(reader: Reader, word: string): void {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word : word.slice(0, equals);
  const known = reader.index.long.get(name);
  if (known === undefined) throw unknownOption(reader, name);
  const given = equals === -1 ? undefined : word.slice(equals + 1);
  if (known.option.type === 'flag') takeFlag(reader, known, given);
  else takeValue(reader, known, given ?? nextWord(reader, known));
}

/** -q, -vv, -qo json, -ojson, -o=json */
function readShort(reader: Reader, word: string): void {
  for (let i = 1; i < word.length; i += 1) {
    const known = reader.index.short.get(word[i] ?? '');
    if (known === undefined) throw unknownOption(reader, `-${word[i]}`, word);
    if (known.option.type !== 'flag') {
      const rest = word.slice(i + 1).replace(/^=/, '');
      takeValue(reader, known, word.length > i + 1 ? rest : nextWord(reader, known));
      return;
    }
    if (word[i + 1] === '=') {
      takeFlag(reader, known, word.slice(i + 2));
      return;
    }
    takeFlag(reader, known, undefined);
  }
}

function takeFlag(reader: Reader, known: KnownOption, value: string | undefined): void {
  const { option, shown } = known;
  if (value !== undefined) {
    throw new BkeError('BKE_USAGE', `option '${shown}' takes no value, but '${value}' was given`, {
      hint: `Write '${shown}' alone, or leave it out.`,
    });
  }
  const word = known.off ? `--no-${option.name}` : `--${option.name}`;
  const opposite = known.off ? `--${option.name}` : `--no-${option.name}`;
  if (reader.seen.has(opposite)) {
    throw new BkeError('BKE_USAGE', `options '${opposite}' and '${word}' contradict each other`);
  }
  reader.seen.add(word);
  reader.options.push(word);
}

function takeValue(reader: Reader, known: KnownOption, value: string): void {
  const { option, shown } = known;
  if (isKnown(reader.index, value)) {
    throw new BkeError('BKE_USAGE', `option '${shown}' needs a value, but '${value}' is an option itself`, {
      hint: `Write '${shown} VALUE'; '${reader.help}' shows what it takes.`,
    });
  }
  if (value === '') throw new BkeError('BKE_USAGE', `option '${shown}' needs a value, but it is empty`);
  const repeatable = option.type !== 'flag' && option.repeatable === true;
  if (reader.seen.has(option.name) && !repeatable) {
    throw new BkeError('BKE_USAGE', `option '${shown}' is given more than once`, {
      hint: 'It takes one value; leave the other out.',
    });
  }
  reader.seen.add(option.name);
  reader.options.push(`--${option.name}=${value}`);
}

function nextWord(reader: Reader, known: KnownOption): string {
  const word = reader.words[reader.at];
  if (word === undefined) {
    throw new BkeError('BKE_USAGE', `option '${known.shown}' needs a value`, {
      hint: `Write '${known.shown} VALUE'; '${reader.help}' shows what it takes.`,
    });
  }
  const looksLikeOption = word.startsWith('-') && word.length > 1;
  if (looksLikeOption && !isKnown(reader.index, word)) {
    const joined = known.shown.startsWith('--') ? `${known.shown}=${word}` : `${known.shown}${word}`;
    throw new BkeError('BKE_USAGE', `option '${known.shown}' needs a value, but '${word}' looks like an option`, {
      hint: `If it is the value, write '${joined}'.`,
    });
  }
  reader.at += 1;
  return word;
}

function isKnown(index: OptionIndex, word: string): boolean {
  if (word.startsWith('--')) return index.long.has(word.split('=', 1)[0] ?? word);
  return /^-[A-Za-z]+$/.test(word) && index.short.has(word[1] ?? '');
}

function unknownOption(reader: Reader, name: string, word = name): BkeError {
  return new BkeError('BKE_UNKNOWN_OPTION', `unknown option '${name}'`, { hint: unknownHint(reader, name, word) });
}

function unknownHint(reader: Reader, name: string, word: string): string {
  const positive = name.replace(/^--no-/, '--');
  // The nearest option would be the very opposite of what was meant.
  if (positive !== name && reader.index.long.has(positive))
    return `'${positive}' is off unless it is given: leave it out.`;
  const visible = new Set<string>();
  for (const { option } of reader.index.long.values()) if (option.hidden !== true) visible.add(shownName(option));
  const help = `'${reader.help}' lists the options.`;
  const isLong = name.startsWith('--');
  const meant = isLong || word.length > 2 ? nearest(isLong ? name : `-${word}`, [...visible]) : undefined;
  return meant === undefined ? help : `Did you mean '${meant}'? ${help}`;
}
