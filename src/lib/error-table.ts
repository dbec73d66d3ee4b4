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
  BKE_SYSTEM: {
    exit: ExitCode.failed,
    title: 'The operating system refused something',
    explanation:
      'A file could not be read or written, or a connection could not be made. The message names what was tried, on what, and the reason the system gave: no space left, permission denied, address in use and the like. Mend that and run the same command again.',
  },
  // --- command line
  BKE_UNKNOWN_COMMAND: {
    exit: ExitCode.usage,
    title: 'There is no such command',
    explanation:
      'The first words after `bke` name no command. Commands are never shortened or guessed. `bke help` lists them all. Nothing was done.',
  },
  BKE_UNKNOWN_OPTION: {
    exit: ExitCode.usage,
    title: 'The command has no such option',
    explanation:
      'Options are never shortened or guessed, and a misspelt one stops the command before it does anything. `bke help COMMAND` lists its options. Nothing was done.',
  },
  BKE_CONFIRMATION_NEEDED: {
    exit: ExitCode.usage,
    title: 'A confirmation is needed and there is no terminal to ask on',
    explanation:
      'The command takes something away, so it asks first. Input or messages are not connected to a terminal, or --no-input was given, so it could not ask. Look at the plan (--dry-run), then run the command again with --yes. Nothing was done.',
  },
  // --- host
  BKE_COMMAND_FAILED: {
    exit: ExitCode.failed,
    title: 'A command on a host failed',
    explanation:
      'bke ran a program of the operating system and it ended with an error. The message has the command, its exit code and its last lines.',
  },
  // --- bke init and the local services
  BKE_CONFIG_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'Settings are not valid',
    explanation:
      'Options or a configuration file have values that can not be used. All of them are listed, each with where it was given. Nothing was done. Correct them and run the same command again.',
  },
  BKE_HOST_ADDRESS_UNKNOWN: {
    exit: ExitCode.invalidInput,
    title: 'It is not clear which address other hosts reach this host by',
    explanation:
      'Without a default route and with no or several addresses bke does not guess. Name the address with --host-ip. Nothing was done.',
  },
  BKE_PREFLIGHT_FAILED: {
    exit: ExitCode.preflight,
    title: 'This host is not ready',
    explanation:
      'Checks that run before anything is changed found problems; all of them are listed, each with its name and its mend. Mend them and run the same command again. A check that is wrong for your site can be left out with --ignore-check NAME.',
  },
  BKE_BUNDLE_NEEDED: {
    exit: ExitCode.invalidInput,
    title: 'A bundle is needed',
    explanation:
      'The local services serve what a bundle holds, and their own programs come from it too. Build one with `bke bundle build` on a machine that has the artifacts, carry it here, and name it with --bundle FILE. Nothing was done.',
  },
  BKE_ARTIFACT_MISSING: {
    exit: ExitCode.invalidInput,
    title: 'The bundle lacks something this step needs',
    explanation:
      'A release manifest must name the programs that bke runs on hosts: registry, containerd, runc, crictl, cni-plugins and a pause image, each for the architecture of the host. The message names what is missing. Build the bundle from a complete manifest. Nothing was done.',
  },
  BKE_BUILT_BINARY_NEEDED: {
    exit: ExitCode.usage,
    title: 'bke runs from source',
    explanation:
      'bke init installs the running bke as a service, which only the built binary can be. Run `npm run build` and use dist/bke-linux-<arch>.',
  },
  BKE_SITE_CA_BROKEN: {
    exit: ExitCode.conflict,
    title: 'The site CA is incomplete',
    explanation:
      'Certificate and private key of the site CA do not belong together or one of them is gone. bke does not make a new CA by itself, because every host that trusts the old one would stop trusting the services. Bring the files back from a backup, or begin anew with `bke reset --all --mount` and `bke init`.',
  },
  BKE_DATA_DIR_CHANGED: {
    exit: ExitCode.conflict,
    title: 'The data directory can not be changed by running init again',
    explanation:
      'The store of images, files and charts is at the place the first init was given. Leave --data-dir out, or begin anew with `bke reset --all --mount`.',
  },
  BKE_NOT_INITIALISED: {
    exit: ExitCode.failed,
    title: 'This host has no local services',
    explanation: '`bke init` was not run on this host, or `bke reset --mount` took the services away.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;
