// The y/N question, asked only where someone can answer it.
import type { Confirmation } from '../commands/context.ts';
import { BkeError } from '../lib/errors.ts';
import { sameCommand } from '../lib/same-command.ts';
import type { Io } from './io.ts';

export interface Asker {
  /** false with --no-input. */
  readonly mayAsk: boolean;
  /** Words typed after `bke`. */
  readonly argv: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * @throws BkeError BKE_CONFIRMATION_NEEDED where there is no terminal, with the command to repeat.
 */
export async function confirm(io: Io, confirmation: Confirmation, { mayAsk, argv, signal }: Asker): Promise<boolean> {
  if (confirmation.yes) return true;
  if (!mayAsk || io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    throw new BkeError('BKE_CONFIRMATION_NEEDED', `not confirmed: ${confirmation.question}`, {
      hint: `Run '${sameCommand(argv, confirmation.option)}' to confirm.`,
    });
  }
  io.stderr.write(`${confirmation.question} [y/N] `);
  const answer = await readLine(io, signal);
  return /^\s*y(?:es)?\s*$/i.test(answer);
}

/** '' at end of input. Not in raw mode, so that Ctrl-C stays a signal. */
async function readLine(io: Io, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline');
  const reader = createInterface({ input: io.stdin, terminal: false });
  try {
    return await new Promise<string>((resolve, reject) => {
      const onAbort = (): void => reject(new BkeError('BKE_CANCELLED', 'stopped before anything was done'));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      reader.once('line', resolve);
      reader.once('close', () => {
        io.stderr.write('\n');
        resolve('');
      });
    });
  } finally {
    reader.removeAllListeners('close');
    reader.close();
    io.stdin.pause();
  }
}
