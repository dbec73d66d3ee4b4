// What is said of an error: its exit code, a title, a paragraph.

/** Exit codes of the bke command, as `bke help exit-codes` lists them. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  invalidInput: 3,
  preflight: 4,
  remoteHost: 5,
  timeout: 6,
  conflict: 7,
  bug: 70,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export interface ErrorEntry {
  readonly exit: ExitCode;
  /** One line, sentence case, no full stop. */
  readonly title: string;
  /** What it means, why it happens, how to mend it: full sentences. */
  readonly explanation: string;
}
