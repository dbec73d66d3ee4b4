// A command as data: what the command line, help, completion and docs are all made from. Only src/cli knows the parser.

export interface ArgumentSpec {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
  /** Accepted words; others are refused. */
  readonly choices?: readonly string[];
  /** Words that completion offers; others are accepted too. */
  readonly suggestions?: readonly string[] | (() => readonly string[]);
  /** Completion offers the words of a command as well, one after the other. */
  readonly commandWords?: boolean;
  /** Completion offers what this list command names: `cluster list`. */
  readonly namesFrom?: string;
}

interface OptionBase {
  /** Long name without dashes, e.g. `data-dir`; reaches the handler as `dataDir`. */
  readonly name: string;
  readonly short?: string;
  readonly summary: string;
  /** Further long names that mean the same, accepted but not shown (openFuyao's spellings). */
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
}

interface FlagOption extends OptionBase {
  readonly type: 'flag';
  /** true: the flag is on unless `--no-<name>` is given. */
  readonly default?: boolean;
  /** Counted: the handler gets how often it was given, e.g. 2 for -vv. */
  readonly repeatable?: boolean;
}

export interface ValueOption extends OptionBase {
  readonly type: 'text' | 'integer' | 'port' | 'path' | 'duration' | 'namespace';
  /** Shown in help as `--name <placeholder>`. */
  readonly placeholder: string;
  readonly default?: string | number;
  readonly choices?: readonly string[];
  /** Completion offers what this list command names: `host list`. */
  readonly namesFrom?: string;
  readonly repeatable?: boolean;
  readonly required?: boolean;
}

export type OptionSpec = FlagOption | ValueOption;

interface Example {
  readonly command: string;
  readonly says: string;
}

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name';

/** A column of the table output; `wide` columns show with -o wide only. */
export interface Column {
  readonly title: string;
  /** Path into a row, e.g. `status.state`. */
  readonly field: string;
  readonly wide?: boolean;
  /** How the field's value is written for people; default: as it is. */
  readonly text?: (value: unknown) => string;
}

/** What a handler gives back; src/cli prints it to stdout in the wanted format. */
export type CommandResult =
  | { readonly kind: 'none' }
  /** Plain text for stdout, as it is (completion scripts, kubeconfig). */
  | { readonly kind: 'text'; readonly text: string }
  /** Texts for stdout as they come (logs that are followed). */
  | { readonly kind: 'stream'; readonly texts: AsyncIterable<string> }
  /** One object; `table` renders as key: value lines unless `text` is given; `headers`: the line above them, which --no-headers leaves out. */
  | {
      readonly kind: 'object';
      readonly value: object;
      readonly text?: string;
      readonly headers?: string;
      readonly exitCode?: number;
    }
  /** A list; `name` of each row is what -o name prints. */
  | {
      readonly kind: 'list';
      readonly items: readonly object[];
      /** What json and yaml tell beside the items. */
      readonly about?: object;
      readonly columns: readonly Column[];
      readonly empty: string;
      readonly exitCode?: number;
    };

/** Values of arguments and options by camelCase name, already typed and checked against the spec. */
export type CommandInput = Readonly<Record<string, unknown>>;

export interface CommandSpec<Context> {
  /** e.g. ['bundle', 'build'] */
  readonly path: readonly string[];
  readonly group: 'bootstrap' | 'hosts' | 'clusters' | 'content' | 'roles' | 'help';
  /** One line, imperative, no full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly examples: readonly Example[];
  readonly args?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly hidden?: boolean;
  /** The formats -o accepts, the first is the default. Absent: the command acts, and -o json writes its events to stdout. Empty: there is no -o. */
  readonly output?: readonly OutputFormat[];
  /** It prints a list, so that --no-headers means something. */
  readonly list?: boolean;
  /** Loads what it needs with `await import()`: start-up must not pay for other commands. */
  readonly run: (context: Context, input: CommandInput) => Promise<CommandResult>;
}
