// The options a command knows, by every spelling.
import type { CommandSpec, OptionSpec } from '../lib/command.ts';
import { globalOptionsOf } from '../lib/global-options.ts';

/** A spelling found: which option it is, and whether it turns a flag off. */
export interface KnownOption {
  readonly option: OptionSpec;
  readonly off: boolean;
  /** How messages name it: `--all`, `--no-color`. */
  readonly shown: string;
}

export interface OptionIndex {
  readonly long: ReadonlyMap<string, KnownOption>;
  readonly short: ReadonlyMap<string, KnownOption>;
}

type Spec = Pick<CommandSpec<never>, 'options' | 'output' | 'list'>;

/** Its own options, then the global ones. */
export function optionsOf(spec: Spec | undefined): readonly OptionSpec[] {
  return [...(spec?.options ?? []), ...globalOptionsOf(spec)];
}

/** `--all`, or `--no-color` where the option is on unless turned off. */
export function shownName(option: OptionSpec): string {
  return option.type === 'flag' && option.default === true ? `--no-${option.name}` : `--${option.name}`;
}

export function indexOptions(options: readonly OptionSpec[]): OptionIndex {
  const long = new Map<string, KnownOption>();
  const short = new Map<string, KnownOption>();
  for (const option of options) {
    for (const name of [option.name, ...(option.aliases ?? [])]) {
      long.set(`--${name}`, { option, off: false, shown: `--${name}` });
      if (option.type === 'flag' && option.default === true) {
        long.set(`--no-${name}`, { option, off: true, shown: `--no-${name}` });
      }
    }
    if (option.short !== undefined) short.set(option.short, { option, off: false, shown: `-${option.short}` });
  }
  return { long, short };
}
