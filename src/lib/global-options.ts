// The options every command takes; parser, help and completion read them from here.
import type { CommandSpec, OptionSpec, OutputFormat } from './command.ts';

export const progressModes = ['auto', 'tty', 'plain', 'json'] as const;
type ProgressMode = (typeof progressModes)[number];

const globalOptions = [
  {
    type: 'text',
    name: 'output',
    short: 'o',
    placeholder: 'FORMAT',
    summary: 'how results are written to standard output',
  },
  { type: 'flag', name: 'headers', default: true, summary: 'tables without their first line' },
  { type: 'flag', name: 'quiet', short: 'q', summary: 'errors and results only: no progress, no hints' },
  { type: 'flag', name: 'verbose', short: 'v', repeatable: true, summary: 'tell more; -vv tells all' },
  {
    type: 'text',
    name: 'progress',
    placeholder: 'MODE',
    choices: progressModes,
    default: 'auto',
    summary: 'how progress is shown on standard error',
  },
  { type: 'flag', name: 'color', default: true, summary: 'no colours; NO_COLOR in the environment does the same' },
  { type: 'flag', name: 'input', default: true, summary: 'never ask anything' },
  { type: 'flag', name: 'help', short: 'h', summary: 'help for the command' },
] as const satisfies readonly OptionSpec[];

/** What the user chose of them, typed. */
export interface GlobalValues {
  readonly output: OutputFormat | undefined;
  readonly headers: boolean;
  readonly quiet: boolean;
  readonly verbose: number;
  readonly progress: ProgressMode;
  readonly color: boolean;
  readonly input: boolean;
}

/** Those that mean something to a command; of all commands where none is named yet. */
export function globalOptionsOf(spec: Pick<CommandSpec<never>, 'output' | 'list'> | undefined): readonly OptionSpec[] {
  return globalOptions.filter(({ name }) => {
    if (name === 'output') return spec?.output?.length !== 0;
    return name !== 'headers' || spec === undefined || spec.list === true;
  });
}
