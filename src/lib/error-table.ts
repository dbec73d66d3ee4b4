// Every error a user can meet: its exit code, a title, and the paragraph `bke explain CODE` and docs/errors.md print.

/** Exit codes of the bke command (design section 5). */
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

/** One table, grouped by the folder that throws them. A test checks that each code is thrown somewhere and explained. */
export const errorTable = {
  // --- general
  BKE_INTERNAL: {
    exit: ExitCode.bug,
    title: 'A bug in bke',
    explanation:
      'Something happened that bke did not expect. Nothing you typed is wrong. Please report the message together with the log file named under it.',
  },
  BKE_CANCELLED: {
    exit: ExitCode.interrupted,
    title: 'Cancelled',
    explanation:
      'You or the system asked bke to stop. It stopped at the next safe point; run the same command again to go on from there.',
  },
  BKE_TIMEOUT: {
    exit: ExitCode.timeout,
    title: 'Something did not happen in time',
    explanation:
      'bke bounds every wait. The message says what it waited for, on which host and what was last seen there. Mend that and run the same command again: finished steps are not repeated.',
  },
  BKE_USAGE: {
    exit: ExitCode.usage,
    title: 'The command line is not understood',
    explanation: 'A command, argument or option is unknown, missing or has a wrong form. Nothing was done.',
  },
  // --- host
  BKE_COMMAND_FAILED: {
    exit: ExitCode.failed,
    title: 'A command on a host failed',
    explanation:
      'bke ran a program of the operating system and it ended with an error. The message has the command, its exit code and its last lines.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;
