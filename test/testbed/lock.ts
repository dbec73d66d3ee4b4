// Locks between processes that the kernel releases when their holder dies, however it dies.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { say } from './log.ts';
import { TestbedError } from './run.ts';

const holderCommand = ['flock', '--exclusive', '--timeout'] as const;
const noticeAfter = 3000;

/**
 * Runs `work` while holding the lock file. A helper process (`flock`) holds the kernel lock and ends when our end of its
 * standard input closes, so a killed run never leaves a lock. Waits at most `limit` seconds.
 */
export async function withLock<T>(file: string, limit: number, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o755 });
  const [program, ...args] = [...holderCommand, String(limit), file, 'sh', '-c', 'echo locked; cat'];
  const holder = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(holder, 'exit');
  const notice = setTimeout(() => say(`waiting for another run that holds ${file} (at most ${limit} s)`), noticeAfter);
  try {
    const taken = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
    if (!taken) throw new TestbedError(`another run still holds ${file} after ${limit} s`);
    clearTimeout(notice);
    return await work();
  } finally {
    clearTimeout(notice);
    holder.stdin.end();
    await ended;
  }
}
