// Saves everything about an unexpected error in a file that can be reported; secrets stay out of it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { redactUrlLogins } from '../lib/redact.ts';
import { withSourcePositions } from '../lib/source-positions.ts';
import { makeOperationsDirectory } from '../operations/state-dir.ts';

export interface BugReport {
  readonly error: unknown;
  readonly argv: readonly string[];
  readonly version: string;
  readonly now: Date;
}

/** Returns the path of the file, or undefined where it can't be written: the error itself matters more. */
export async function saveBugLog(directory: string, report: BugReport): Promise<string | undefined> {
  const stamp = report.now.toISOString().replaceAll(/[-:]|\.\d+Z/g, '');
  const path = join(directory, `bug-${stamp}-${process.pid}.log`);
  const text = [
    `bke ${report.version}, node ${process.versions.node}, ${process.platform}/${process.arch}`,
    `time: ${report.now.toISOString()}`,
    `command: bke ${report.argv.join(' ')}`,
    await trace(report.error),
  ].join('\n');
  try {
    await makeOperationsDirectory(directory);
    await writeFile(path, `${redactUrlLogins(text)}\n`, { mode: 0o600, flag: 'wx' });
    return path;
  } catch {
    return undefined;
  }
}

/** Places in the source where they can be had; the trace itself matters more. */
async function trace(error: unknown): Promise<string> {
  const text = inspect(error, { depth: 4, breakLength: 120, maxStringLength: 4096 });
  return withSourcePositions(text).catch(() => text);
}
