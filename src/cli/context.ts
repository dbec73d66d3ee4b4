// What a handler gets in production; main() may be given parts of it by tests.
import type { CommandContext } from '../commands/context.ts';
import type { Host } from '../host/host.ts';
import type { GlobalValues } from '../lib/global-options.ts';
import { visible } from '../lib/text.ts';
import { confirm } from './confirm.ts';
import { type Io, readableWidth } from './io.ts';
import { type Completer, completedEvent } from './next-commands.ts';
import type { Progress } from './progress.ts';

export interface ContextParts {
  readonly io: Io;
  readonly globals: GlobalValues;
  readonly argv: readonly string[];
  /** Of commands that are told. */
  readonly complete: Completer;
  readonly signal: AbortSignal;
  readonly onStop: (words: string) => void;
  readonly looksIn: (kubeconfig: string) => void;
  readonly progress: Progress;
  readonly operationsDirectory: string | undefined;
  readonly openLocalHost: () => Promise<Host>;
}

export function createContext(parts: ContextParts): CommandContext {
  const { io, globals, signal, progress, complete } = parts;
  return {
    env: io.env,
    get cwd() {
      return io.cwd;
    },
    get textWidth() {
      return readableWidth(io.stdout);
    },
    now: io.now,
    signal,
    onStop: parts.onStop,
    looksIn: parts.looksIn,
    get stdin() {
      return io.stdin;
    },
    argv: parts.argv,
    operationsDirectory: parts.operationsDirectory,
    verbosity: globals.verbose,
    openLocalHost: parts.openLocalHost,
    events: (event) => progress.sink(completedEvent(event, complete)),
    note: (line) => {
      // One line is told: a mount or file may be called anything.
      if (!globals.quiet) progress.line(visible(complete(line), 2000));
    },
    confirm: async (confirmation) => {
      await progress.shown();
      return confirm(io, confirmation, { mayAsk: globals.input, argv: parts.argv, signal });
    },
  };
}
