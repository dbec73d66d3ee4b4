// Runs a program of this machine by argument vector: clean environment, deadline on the whole process group, capped output.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { pipeline, Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { lastLines } from '../../lib/text.ts';
import { droppedOf, TailBuffer } from '../../lib/tail-buffer.ts';
import { errnoOf } from '../errno.ts';
import type { RunOptions, RunResult } from '../host.ts';
import { systemPath } from '../system-path.ts';
import { programMark } from './program-mark.ts';

const defaultTimeoutMs = 60_000;
const defaultOutputBytes = 1 << 20;
/** After the program itself has ended: how long a child that lives on may keep its output open. */
const afterlifeMs = 500;

interface Ending {
  readonly exitCode: number;
}

/** 127 and 126 as a shell would answer for a program that is missing or can't be run. */
function startFailure(thrown: unknown): { exitCode: number; stderr: string } | undefined {
  if (!(thrown instanceof Error) || !('syscall' in thrown) || !String(thrown.syscall).startsWith('spawn'))
    return undefined;
  const code = errnoOf(thrown);
  if (code === 'ENOENT') return { exitCode: 127, stderr: 'no such program or working directory' };
  if (code === 'EACCES' || code === 'ENOEXEC') return { exitCode: 126, stderr: `cannot be run (${code})` };
  return undefined;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

function feed(child: ChildProcess, input: RunOptions['input'], fail: (error: Error) => void): void {
  const stdin = child.stdin;
  if (stdin === null) return;
  // A program that ends without reading its input is no error; its exit code tells what it thought.
  stdin.on('error', () => undefined);
  if (input instanceof Readable) {
    pipeline(input, stdin, () => {
      if (input.errored !== null) fail(input.errored);
    });
  } else stdin.end(input);
}

/** Resolves when the program has ended and its output is complete, or `afterlifeMs` later. */
function ended(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const ending = { exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) };
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(ending);
      }, afterlifeMs);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(ending);
      });
    });
  });
}

interface Stop {
  reason: 'timeout' | 'cancelled' | undefined;
  /** The input stream broke. */
  failure: Error | undefined;
}

function stopError(stop: Stop, program: string, tail: string, timeoutMs = defaultTimeoutMs): Error | undefined {
  if (stop.failure !== undefined) return stop.failure;
  if (stop.reason === 'cancelled') return new BkeError('BKE_CANCELLED', `cancelled while ${program} ran`);
  if (stop.reason !== 'timeout') return undefined;
  return new BkeError('BKE_TIMEOUT', `${program} did not end within ${timeoutMs / 1000} s`, {
    details: lastLines(tail, 5),
  });
}

/**
 * In a group of its own: the deadline reaches its children too, and Ctrl-C at the terminal is for bke alone. Where bke itself ends at once
 * (a second Ctrl-C, KILL) a program without `signal` goes on to its end: half a useradd is worse than a late one, and its intent is recorded.
 * The next bke finds it by its mark and waits for it (`ledger/orphans.ts`).
 */
function start(argv: readonly [string, ...string[]], options: RunOptions): ChildProcess {
  const [program, ...args] = argv;
  return spawn(program, args, {
    cwd: options.cwd ?? '/',
    env: { PATH: systemPath, LC_ALL: 'C', HOME: '/root', ...programMark(), ...options.env },
    detached: true,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
}

/** Kills the program and all its children at the deadline or when the signal says so; `release` ends the watch. */
function watch(child: ChildProcess, stop: Stop, options: RunOptions): { release: () => void } {
  const end = (reason: 'timeout' | 'cancelled'): void => {
    stop.reason ??= reason;
    killGroup(child);
  };
  const cancel = (): void => end('cancelled');
  const timer = setTimeout(() => end('timeout'), options.timeoutMs ?? defaultTimeoutMs);
  options.signal?.addEventListener('abort', cancel, { once: true });
  return {
    release: () => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', cancel);
    },
  };
}

function tailOf(stream: Readable | null, maxBytes = defaultOutputBytes): TailBuffer {
  const tail = new TailBuffer(maxBytes);
  stream?.on('data', (chunk: Buffer) => tail.push(chunk));
  return tail;
}

/**
 * Output and arguments never reach an error but for the last lines of stderr at a timeout.
 * @throws BkeError BKE_TIMEOUT, BKE_CANCELLED
 */
export async function runProgram(argv: readonly [string, ...string[]], options: RunOptions = {}): Promise<RunResult> {
  const [program] = argv;
  if (options.signal?.aborted === true) throw new BkeError('BKE_CANCELLED', `cancelled before ${program} ran`);
  const child = start(argv, options);
  const stdout = tailOf(child.stdout, options.maxOutputBytes);
  const stderr = tailOf(child.stderr, options.maxOutputBytes);
  const stop: Stop = { reason: undefined, failure: undefined };
  const watching = watch(child, stop, options);
  feed(child, options.input, (error) => {
    stop.failure = error;
    killGroup(child);
  });
  try {
    const { exitCode } = await ended(child);
    const stopped = stopError(stop, program, stderr.toString(), options.timeoutMs);
    if (stopped !== undefined) throw stopped;
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString(), ...droppedOf(stdout, stderr) };
  } catch (thrown) {
    const failure = startFailure(thrown);
    if (failure === undefined) throw thrown;
    return { exitCode: failure.exitCode, stdout: '', stderr: `${program}: ${failure.stderr}\n` };
  } finally {
    watching.release();
  }
}
