// Why nothing could be started on a host although the login worked: told from what sudo, the login shell or sshd printed instead of our mark.
import { BkeError } from '../../lib/errors.ts';
import { lastLines } from '../../lib/text.ts';
import { type SshTarget, placeOf } from './target.ts';

export interface StartFailure {
  /** What was printed on both streams, without secrets. */
  readonly output: string;
  readonly exitCode: number | undefined;
  /** A sudo password was given in this run. */
  readonly passwordGiven: boolean;
}

export function startFailure(target: SshTarget, failure: StartFailure): BkeError {
  const details = lastLines(failure.output, 5);
  const sudo = sudoProblem(target, failure);
  if (sudo !== undefined) return new BkeError(sudo.code, sudo.message, { host: target.name, hint: sudo.hint, details });
  const ended = failure.exitCode === undefined ? '' : ` (exit code ${failure.exitCode})`;
  return new BkeError(
    'BKE_SSH_SHELL',
    `the login to ${target.name} (${placeOf(target)}) works, but the account's shell runs no command${ended}`,
    {
      host: target.name,
      details,
      hint: `Look at it with: ssh -p ${target.port} ${target.user}@${target.address} echo works. The account needs a login shell that is not nologin or restricted, and start-up files that end.`,
    },
  );
}

/** true where sudo would work with a password. */
function wantsSudoPassword(output: string): boolean {
  return /sudo: (?:a password is required|interactive authentication is required)|sudo: .*password.*required/.test(
    output,
  );
}

interface SudoProblem {
  readonly code: 'BKE_SUDO_DENIED' | 'BKE_SUDO_PASSWORD_NEEDED';
  readonly message: string;
  readonly hint: string;
}

interface Rule {
  readonly says: RegExp;
  readonly message: string;
  readonly hint: string;
}

const rules: readonly Rule[] = [
  {
    says: /you must have a tty|no tty present/,
    message: 'sudo demands a terminal (requiretty)',
    hint: 'Add to sudoers: Defaults:USER !requiretty',
  },
  {
    says: /is not in the sudoers file|may not run sudo|is not allowed to (?:execute|run)/,
    message: 'the account may not become root',
    hint: 'Allow it in sudoers: USER ALL=(ALL) ALL. Or log in as root.',
  },
  {
    says: /sudo: (?:command )?not found|sudo: No such file|command not found: sudo|exec: sudo/,
    message: 'sudo is not installed',
    hint: 'Install sudo on the host, or log in as root.',
  },
  {
    says: /incorrect password attempt|no password was provided|Sorry, try again|Authentication failed|maximum \d+ incorrect/i,
    message: 'the sudo password is wrong',
    hint: 'Check ssh.sudo of the host (without it the login password is used).',
  },
  { says: /^sudo: /m, message: 'sudo failed', hint: 'See what it said above.' },
];

function sudoProblem(target: SshTarget, { output, passwordGiven }: StartFailure): SudoProblem | undefined {
  if (!passwordGiven && wantsSudoPassword(output)) {
    return {
      code: 'BKE_SUDO_PASSWORD_NEEDED',
      message: `sudo on ${target.name} asks ${target.user} for a password and none is known`,
      hint: `Give ssh.sudo.passwordFile (or ssh.sudo.password) of ${target.name}, or allow ${target.user} NOPASSWD in sudoers.`,
    };
  }
  const rule = rules.find(({ says }) => says.test(output));
  if (rule === undefined) return undefined;
  const message = `cannot become root on ${target.name} as ${target.user}: ${rule.message}`;
  return { code: 'BKE_SUDO_DENIED', message, hint: rule.hint.replace('USER', target.user) };
}
