// Programs of a host that must succeed: a non-zero exit code becomes an error with its last lines.
import { BkeError } from '../lib/errors.ts';
import { lastLines } from '../lib/text.ts';
import type { HostShell, RunOptions, RunResult } from './host.ts';

const shownLines = 10;

/** @throws BkeError BKE_COMMAND_FAILED naming the program and its arguments (never its input). */
export async function runChecked(
  host: HostShell,
  argv: readonly [string, ...string[]],
  options?: RunOptions,
): Promise<RunResult> {
  const result = await host.run(argv, options);
  if (result.exitCode === 0) return result;
  const said = result.stderr.trim() === '' ? result.stdout : result.stderr;
  throw new BkeError('BKE_COMMAND_FAILED', `${argv.join(' ')} ended with exit code ${result.exitCode}`, {
    host: host.name,
    details: lastLines(said, shownLines),
  });
}
