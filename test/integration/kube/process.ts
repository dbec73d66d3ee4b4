// A program of the test bed as a child that is ended for sure, with the end of what it wrote for when it fails.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { TailBuffer } from '../../../src/lib/tail-buffer.ts';

export interface TestProcess {
  running(): boolean;
  /** End of its output. */
  log(): string;
  /** Returns when it is gone. */
  kill(): Promise<void>;
}

export function startProcess(program: string, args: readonly string[]): TestProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = new TailBuffer(8 * 1024);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => log.push(chunk));
  const atExit = (): void => void child.kill('SIGKILL');
  process.on('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  return {
    running: () => isRunning(child),
    log: () => log.toString(),
    kill: () => kill(child),
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function kill(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Asks until `ready` does not throw. @throws with the process' log where it ends first or does not answer in time */
export async function untilReady(
  what: string,
  child: TestProcess,
  ready: () => Promise<unknown>,
  limitMs = 60_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      await ready();
      return;
    } catch (thrown) {
      const late = performance.now() > end;
      if (late || !child.running()) {
        throw new Error(`${what} ${late ? 'was not ready in time' : 'ended'}\n${child.log()}`, { cause: thrown });
      }
      await pause(100);
    }
  }
}
