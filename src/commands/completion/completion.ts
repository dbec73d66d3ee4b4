// bke completion SHELL
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** @param commands the whole table, asked for when it is complete: this command is in it. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    path: ['completion'],
    group: 'help',
    summary: 'Print the completion script of a shell',
    examples: [
      { command: 'source <(bke completion bash)', says: 'complete in this bash' },
      { command: 'bke completion bash > /etc/bash_completion.d/bke', says: 'in every bash from now on' },
      { command: 'bke completion fish | source', says: 'complete in this fish' },
    ],
    args: [{ name: 'shell', summary: 'bash, zsh or fish', choices: shells }],
    output: [],
    run: async (_context, input) => {
      const { completionScript } = await import('./script.ts');
      return { kind: 'text', text: completionScript(readInput(input).requiredText('shell'), commands()) };
    },
  };
}
