// `bootcmd` and `runcmd` as one script for /bin/sh each. Pure.
import { shellQuote } from '../../../lib/quote.ts';
import type { Command } from './parse.ts';

/** As cloud-init writes it, without `set -e`: a command that fails keeps none of the later ones from running. */
export function shellScript(commands: readonly Command[]): string {
  const lines = commands.map((command) =>
    typeof command === 'string' ? command : command.map((word) => shellQuote(word)).join(' '),
  );
  return `#!/bin/sh\n${lines.map((line) => `${line}\n`).join('')}`;
}
