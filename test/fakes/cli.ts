// Runs main() in process with streams that are kept.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { main, type MainOverrides } from '../../src/cli/main.ts';

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions extends MainOverrides {
  /** Both outputs are terminals. */
  readonly tty?: boolean;
  /** What is typed on standard input; it ends after that. */
  readonly typed?: string;
}

export async function runCli(argv: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const { tty = false, typed = '', ...overrides } = options;
  const stdout = keptOutput(tty);
  const stderr = keptOutput(tty);
  const stdin = Object.assign(new PassThrough(), { isTTY: tty });
  stdin.end(typed);
  const signals = { on: () => {}, off: () => {}, exit: () => {} };
  // As root the default is this machine's own, which a test has no business in.
  const operationsDirectory = await mkdtemp(join(tmpdir(), 'bke-cli-'));
  const own = { stdin, stdout, stderr, env: {}, cwd: '/', signals, operationsDirectory };
  try {
    const code = await main(argv, { ...own, ...overrides });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    await rm(operationsDirectory, { recursive: true });
  }
}

function keptOutput(isTTY: boolean): {
  write(text: string): boolean;
  isTTY: boolean;
  columns: number;
  rows: number;
  text(): string;
} {
  const parts: string[] = [];
  return {
    isTTY,
    columns: 100,
    rows: 24,
    write: (text) => {
      parts.push(text);
      return true;
    },
    text: () => parts.join(''),
  };
}
