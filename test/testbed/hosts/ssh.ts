// SSH to a host of the bed: only the bed's key, no files of the user, no question.
import { run, type RunOptions, type RunResult } from '../run.ts';

/** What ssh must know of a host. */
export interface SshTarget {
  address: string;
  privateKeyFile: string;
}

/** How a command is run on a host. */
export type ExecOptions = Pick<RunOptions, 'input' | 'timeout'>;

const execLimit = 300;

/** Arguments of ssh up to the command. */
export function sshCommand({ address, privateKeyFile }: SshTarget): string[] {
  const options = [
    // The bed made the host's keys itself, and new ones for every host of the same address.
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'ConnectTimeout=10',
    'ServerAliveInterval=5',
    'ServerAliveCountMax=3',
  ];
  const flags = options.flatMap((text) => ['-o', text]);
  return ['ssh', '-F', 'none', '-i', privateKeyFile, ...flags, `root@${address}`];
}

/** Runs a shell script (string) or an argument list; an exit code is a result, 255 also means no connection. */
export async function sshExec(
  target: SshTarget,
  command: string | readonly string[],
  options: ExecOptions = {},
): Promise<RunResult> {
  const text = typeof command === 'string' ? command : command.map(quote).join(' ');
  const everyExitCode = Array.from({ length: 256 }, (_, code) => code);
  return run([...sshCommand(target), text], { timeout: execLimit, ...options, allowed: everyExitCode });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
