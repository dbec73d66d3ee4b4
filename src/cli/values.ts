// Option values from text to their type.
import type { ValueOption } from '../lib/command.ts';
import { isDnsLabel } from '../lib/dns-name.ts';
import { parseDuration } from '../lib/duration.ts';
import { BkeError } from '../lib/errors.ts';
import { nearest } from '../lib/suggest.ts';
import { listed } from '../lib/text.ts';

/** @throws BkeError BKE_USAGE where the text has not the form the option takes. */
export function typedValue(option: ValueOption, text: string): string | number {
  if (option.choices !== undefined && !option.choices.includes(text)) {
    throw badChoice(`--${option.name}`, text, option.choices);
  }
  return readers[option.type](option, text);
}

const readers: Readonly<Record<ValueOption['type'], (option: ValueOption, text: string) => string | number>> = {
  text: (_option, text) => text,
  path: (_option, text) => text,
  namespace: (option, text) => {
    if (!isDnsLabel(text))
      throw wrongForm(option, text, "a name of at most 63 letters a-z, digits and '-' between them");
    return text;
  },
  integer: (option, text) => wholeNumber(option, text, Number.MAX_SAFE_INTEGER, 'a whole number'),
  port: (option, text) => {
    const port = wholeNumber(option, text, 65_535, 'a port from 1 to 65535');
    if (port === 0) throw wrongForm(option, text, 'a port from 1 to 65535');
    return port;
  },
  duration: (option, text) => {
    const ms = parseDuration(text);
    if (ms === undefined) throw wrongForm(option, text, 'a duration like 30s, 5m or 1h30m');
    return ms;
  },
};

export function badChoice(shown: string, text: string, choices: readonly string[]): BkeError {
  const meant = choiceMeant(text, choices);
  return new BkeError('BKE_USAGE', `option '${shown}' takes ${listed(choices, 'or')}, not '${text}'`, {
    hint: meant === undefined ? undefined : `Did you mean '${shown}=${meant}'?`,
  });
}

export function badArgument(name: string, text: string, choices: readonly string[]): BkeError {
  const meant = nearest(text, choices);
  return new BkeError('BKE_USAGE', `${name.toUpperCase()} is ${listed(choices, 'or')}, not '${text}'`, {
    hint: meant === undefined ? undefined : `Did you mean '${meant}'?`,
  });
}

/** arm64 means linux/arm64. */
function choiceMeant(text: string, choices: readonly string[]): string | undefined {
  return choices.find((choice) => choice.endsWith(`/${text}`)) ?? nearest(text, choices);
}

function wholeNumber(option: ValueOption, text: string, most: number, wanted: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= most)) throw wrongForm(option, text, wanted);
  return value;
}

function wrongForm(option: ValueOption, text: string, wanted: string): BkeError {
  return new BkeError('BKE_USAGE', `option '--${option.name}' takes ${wanted}, not '${text}'`);
}
