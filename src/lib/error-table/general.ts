// Errors of the program itself, of this host and its record of changes.
import { type ErrorEntry, ExitCode } from './entry.ts';

export const generalErrors = {
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
  BKE_SECRET_EXPOSED: {
    exit: ExitCode.invalidInput,
    title: 'A secret file is open to others',
    explanation:
      'A file with a password or private key may be read or changed by other users of this machine, so it is refused, as ssh refuses such keys. Make it yours alone with chmod 600, and consider the secret known if others could log in here. Nothing was done with it.',
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
  BKE_DECLINED: {
    exit: ExitCode.failed,
    title: 'The question was answered with no',
    explanation:
      'The command asked before it began, and the answer was not yes. It changed nothing. Its exit code is not 0, because what was asked for is not so.',
  },
  // --- host
  BKE_COMMAND_FAILED: {
    exit: ExitCode.failed,
    title: 'A command on a host failed',
    explanation:
      'bke ran a program of the operating system and it ended with an error. The message has the command, its exit code and its last lines.',
  },
  // --- changes and the ledger
  BKE_FILE_TOO_LARGE: {
    exit: ExitCode.failed,
    title: 'A file is larger than it can be',
    explanation:
      'bke reads small files (configuration, tables of the system) whole, up to a bound, and this one is larger. Look at the file that is named: something else probably wrote into it.',
  },
  BKE_LOCKED: {
    exit: ExitCode.conflict,
    title: 'Another bke is working on this host',
    explanation:
      'One bke at a time changes a host. The message names the process, its command and since when it runs. Wait until it has ended, or end it, and run the command again. What a dead process left is taken over without asking; where a program that it started still runs, the next bke waits at most 60 s for it and then ends it.',
  },
  BKE_LEDGER_NEWER: {
    exit: ExitCode.conflict,
    title: 'The ledger of this host was written by a newer bke',
    explanation:
      'bke keeps a record of all it changed on a host in /var/lib/bke/ledger. This one has a format that this bke does not know. Use the newer bke that wrote it.',
  },
  BKE_LEDGER_LOST: {
    exit: ExitCode.failed,
    title: 'The record of a change cannot be read',
    explanation:
      'Something was changed by bke and the part of the ledger in /var/lib/bke/ledger that tells what was there before is missing or damaged. What it is stays as it is; put it back by hand.',
  },
  BKE_CHANGE_NOT_APPLIED: {
    exit: ExitCode.failed,
    title: 'A change did not take effect',
    explanation:
      'bke made a change to the host, looked again, and it was not so: something else changes the same thing, or the system refused it silently. The message names the change and the last lines the system wrote about it.',
  },
  BKE_PATH_IN_THE_WAY: {
    exit: ExitCode.conflict,
    title: 'Something else is where bke needs a path',
    explanation:
      'A directory, file or link of another kind is at a path where bke must put its own. bke does not replace a directory by a file or the other way round. Move it away and run the command again.',
  },
  BKE_NO_SUCH_USER: {
    exit: ExitCode.failed,
    title: 'A user or group does not exist',
    explanation:
      'A file should belong to a user or group that the host does not have. Create it, or run the step that does.',
  },
  BKE_ARCHIVE_UNSAFE: {
    exit: ExitCode.invalidInput,
    title: 'An archive holds what it must not',
    explanation:
      'Archives that bke unpacks hold files, directories and links that stay inside their folder. This one has an entry with an absolute path, a path upwards, a link that leads out, a device, or more data than the bound. Nothing of it is used.',
  },
  BKE_REMOVAL_REFUSED: {
    exit: ExitCode.invalidInput,
    title: 'bke does not delete this directory',
    explanation:
      'A directory of the system itself (/, /etc, /usr, /var/lib, a home directory and the like) was named where bke deletes a whole tree. Data belongs in a directory of its own, e.g. /data/bke.',
  },
  // --- reset
  BKE_RESET_INCOMPLETE: {
    exit: ExitCode.failed,
    title: 'Something could not be taken away',
    explanation:
      'The reset did all it could and looked at the host again: the things listed are still there. Each line names what stays, why, and the command that shows it; a directory that is in use names the process that holds it. Nothing behind a mount was deleted. Mend what is named (end the process, take off the immutable flag, unmount by hand) and run the same reset again: it goes on with the rest.',
  },
  BKE_RESET_CHANGED: {
    exit: ExitCode.conflict,
    title: 'The host changed between the plan and the reset',
    explanation:
      'Before it begins, a reset looks at the host again under its lock. The things listed (data, mounts, files or recorded changes) were not in the plan that was shown, so nobody has agreed to them. Nothing was changed. Find out what is still at work on the host if you did not expect it, then run the same command again: it shows the plan as it is now.',
  },
  BKE_RESET_REFUSED: {
    exit: ExitCode.conflict,
    title: 'The reset would cut something off and did not begin',
    explanation:
      "Taking away what the message names would end the SSH session the reset was started from, bke itself, or something that is not Kubernetes'. Nothing was changed. The hint says how to make it safe; then run the same command again.",
  },
} as const satisfies Record<string, ErrorEntry>;
