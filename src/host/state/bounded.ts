// Programs of the host that may hang in the kernel: never waited for longer than told, even where not even KILL ends them.
import { setTimeout as sleep } from 'node:timers/promises';
import { BkeError } from '../../lib/errors.ts';
import { lastLine } from '../../lib/text.ts';
import type { Host, RunOptions, RunResult } from '../host.ts';

/** After the deadline of the program itself: how long its end is waited for. */
const afterMs = 1000;

/** The program's result; a deadline that passed is a result as well (exit code 124, as timeout(1) has it). */
export async function runBounded(
  host: Host,
  argv: readonly [string, ...string[]],
  options: RunOptions & { readonly timeoutMs: number },
): Promise<RunResult> {
  const late: RunResult = {
    exitCode: 124,
    stdout: '',
    stderr: `${argv[0]} did not end within ${options.timeoutMs / 1000} s`,
  };
  const giveUp = new AbortController();
  try {
    return await Promise.race([
      host.run(argv, options),
      sleep(options.timeoutMs + afterMs, late, { signal: giveUp.signal, ref: false }),
    ]);
  } catch (thrown) {
    if (thrown instanceof BkeError && thrown.code === 'BKE_TIMEOUT') return late;
    throw thrown;
  } finally {
    giveUp.abort();
  }
}

/** What a program said last, or its exit code. */
export function reasonOf(result: RunResult): string {
  return lastLine(result.stderr) || `exit code ${result.exitCode}`;
}
