// What is run on a host: one fixed line that every login shell reads alike, and the script that line takes from its input.
//
// The line holds no backslash-quote, no exclamation mark and no newline inside its single quotes, so sh, bash, zsh, fish and csh see the same words.
// It starts /bin/sh with a clean environment, through sudo where the login is not root, and prints a mark; only after that is anything sent to it.
// So nothing that start-up files print or read can be taken for ours, and a sudo password never meets the payload.
import { shellQuoteOneLine } from '../../lib/quote.ts';
import type { RunOptions } from '../host.ts';
import { systemPath } from '../system-path.ts';

export type SudoMode =
  /** Fails at once where sudo wants a password. */
  | 'without-password'
  /** Takes a password from its input when it prints the prompt. */
  | 'with-password';

/** What sudo prints when it waits for the password. */
export function sudoPrompt(nonce: string): string {
  return `${nonce}-password:`;
}

/**
 * The line for the SSH exec request.
 * @param nonce letters and digits only; unguessable, so that no output can pass for a mark.
 */
export function startLine(nonce: string, sudo: SudoMode): string {
  const clean = `env -i PATH="$PATH" LC_ALL=C /bin/sh -c "$1" "$0"`;
  const asRoot = sudo === 'with-password' ? `sudo -S -p "$0-password:"` : 'sudo -n';
  const become = [
    `PATH=${systemPath}; LC_ALL=C; export PATH LC_ALL`,
    `if test "$(id -u)" -eq 0; then exec ${clean}; else exec ${asRoot} -- ${clean}; fi`,
  ].join('; ');
  // $n is a newline and $h root's home for the script; the group is what is signalled to end the program and its children.
  const receive = [
    `n=$(printf "\\n."); n=\${n%.}; h=~root`,
    `read -r p c s q g x </proc/$$/stat`,
    `printf "\\n%s ready %s\\n" "$0" "$g"; printf "\\n%s ready %s\\n" "$0" "$g" >&2`,
    `IFS= read -r script; eval "$script"`,
  ].join('; ');
  return `exec /bin/sh -c '${become}' ${nonce} '${receive}'`;
}

/** What the end mark carries where the working directory is not there. */
export const noDirectory = 'no-directory';

/** One line without newline: a program by argument vector, in a clean environment. The end mark carries its exit code. */
export function programScript(argv: readonly string[], options: Pick<RunOptions, 'cwd' | 'env'>): string {
  const variables = Object.entries(options.env ?? {}).map(([name, value]) => shellQuoteOneLine(`${name}=${value}`));
  const words = argv.map(shellQuoteOneLine);
  const run = ['env', '-i', `PATH=${systemPath}`, 'LC_ALL=C', 'HOME="$h"', ...variables, ...words].join(' ');
  return `if cd ${shellQuoteOneLine(options.cwd ?? '/')}; then ${run}; x=$?; else x=${noDirectory}; fi; ${endMark}`;
}

/** For scripts of bke's own: `body` is POSIX sh, run in a subshell; it may exit and set traps. */
export function bodyScript(body: string): string {
  return `(eval ${shellQuoteOneLine(body)}); x=$?; ${endMark}`;
}

const endMark = `printf "\\n%s exit %s\\n" "$0" "$x"; printf "\\n%s exit %s\\n" "$0" "$x" >&2`;
