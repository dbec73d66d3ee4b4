// Runs programs of this machine and turns a failure into one readable error.
import { execa } from 'execa';

/** A failure of the test bed that its message fully explains. */
export class TestbedError extends Error {
  override name = 'TestbedError';
}

/** How a program is run. */
export interface RunOptions {
  cwd?: string;
  /** Added to this process' environment. */
  env?: Record<string, string>;
  input?: string | Uint8Array;
  /** Seconds until the program is killed; 60 when not given. */
  timeout?: number;
  /** Exit codes beside 0 that are not an error. */
  allowed?: number[];
}

/** What a program left behind. */
export interface RunResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

const lastLines = 20;

/** Runs `argv`; throws `TestbedError` with the last lines of its output unless it exits 0 (or as allowed) in time. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const [file, ...args] = argv;
  if (file === undefined) throw new TestbedError('no program to run');
  const { timeout = 60, allowed = [] } = options;
  const result = await execa(file, args, {
    ...placeOf(options),
    timeout: timeout * 1000,
    reject: false,
    maxBuffer: 256 * 1024 * 1024,
  });
  const { exitCode = -1, timedOut, stdout, stderr } = result;
  if (exitCode !== 0 && !allowed.includes(exitCode)) {
    const cause = 'shortMessage' in result ? result.shortMessage : '';
    throw new TestbedError(describeFailure(argv, { exitCode, timedOut, limit: timeout, stdout, stderr, cause }));
  }
  return { exitCode, stdout, stderr };
}

function placeOf({ cwd, env, input }: RunOptions) {
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
  };
}

interface Failure {
  exitCode: number;
  timedOut: boolean;
  limit: number;
  stdout: string;
  stderr: string;
  /** Why it did not run at all. */
  cause: string;
}

function describeFailure(argv: readonly string[], failure: Failure): string {
  const why = failure.timedOut
    ? `was stopped after ${failure.limit} s`
    : failure.exitCode === -1
      ? `did not run: ${failure.cause}`
      : `ended with exit code ${failure.exitCode}`;
  const output = (failure.stderr.trim() || failure.stdout.trim()).split('\n').slice(-lastLines).join('\n');
  return `${argv.slice(0, 6).join(' ')}${argv.length > 6 ? ' …' : ''} ${why}${output === '' ? '' : `\n${output}`}`;
}
