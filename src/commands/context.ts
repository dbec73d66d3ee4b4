// What a command handler gets instead of globals: streams, clock, environment, this host, and the way to run an operation.
import type { EventSink } from '../api/events.ts';
import type { Host } from '../host/host.ts';
import type { CommandSpec } from '../lib/command.ts';

export interface Confirmation {
  /** What will happen, already shown as a plan above it. */
  readonly question: string;
  /** true where --yes was given. */
  readonly yes: boolean;
  /** That says yes: the same command with it is told where there is no terminal to ask on. */
  readonly option: string;
}

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws where the folder bke was started in is gone. */
  readonly cwd: string;
  /** Columns for text that is wrapped for people. */
  readonly textWidth: number;
  readonly now: () => Date;
  /** Where journals of operations are kept; undefined where there is no place for them (no HOME). */
  readonly operationsDirectory: string | undefined;
  /** Aborted by the first Ctrl-C, TERM or HUP. */
  readonly signal: AbortSignal;
  /** The line that the first Ctrl-C is met with from now on; '' where what the command says in the end tells all. Default: that it stops at the next safe point. */
  onStop(words: string): void;
  /** The command looks into the management cluster by this kubeconfig, which nobody named: kubectl commands that are told name it. */
  looksIn(kubeconfig: string): void;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Words typed after `bke`, for messages that tell what to type again. */
  readonly argv: readonly string[];
  /** The machine bke runs on. */
  openLocalHost(): Promise<Host>;
  /** Where the events of an operation go: the renderer chosen by --progress and the terminal. */
  readonly events: EventSink;
  /** A line for a person on stderr (hints, plans); hidden by --quiet. */
  note(line: string): void;
  /** How much a person wants to be told: 0, 1 (-v) or 2 (-vv). */
  readonly verbosity: number;
  /** Asks y/N on a terminal; without one and without yes throws BKE_CONFIRMATION_NEEDED with the command to repeat. false = said no. */
  confirm(confirmation: Confirmation): Promise<boolean>;
}

export type Command = CommandSpec<CommandContext>;
