// All colours of the command line, and the one place that decides whether there are any.
import { Chalk } from 'chalk';
import type { Env, OutputStream } from './io.ts';

type Paint = (text: string) => string;

/** Colour is never the only signal: each of these words also stands there as text. */
export interface Theme {
  readonly colored: boolean;
  readonly strong: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
  readonly accent: Paint;
}

/** Off by --no-color, NO_COLOR, TERM=dumb or a stream that is no terminal; FORCE_COLOR and CLICOLOR_FORCE turn it on for the last two. */
export function wantsColor(env: Env, stream: OutputStream, flag: boolean): boolean {
  if (!flag || isSet(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'] ?? env['CLICOLOR_FORCE'];
  if (isSet(forced)) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export function createTheme(colored: boolean): Theme {
  const chalk = new Chalk({ level: colored ? 1 : 0 });
  return {
    colored,
    strong: (text) => chalk.bold(text),
    faint: (text) => chalk.dim(text),
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    warning: (text) => chalk.yellow(text),
    accent: (text) => chalk.cyan(text),
  };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
