// bke config print: what a file means, with every default.
import type { Command } from '../context.ts';
import { fileOption, noFilesOption } from './options.ts';

export const configPrint: Command = {
  path: ['config', 'print'],
  group: 'clusters',
  summary: 'Show what a cluster.yaml or bootstrap.yaml means, with every default',
  description:
    'Prints the whole file as bke understands it: defaults written out, the defaults of hosts merged into each, and behind every value the line it stands on or what it follows from. Passwords are never shown. A file with mistakes is refused as by `bke config validate`.',
  examples: [
    { command: 'bke config print -f cluster.yaml', says: 'YAML, each value with where it comes from' },
    { command: 'bke config print -f cluster.yaml -o json', says: 'for a script' },
  ],
  options: [fileOption, noFilesOption],
  output: ['table', 'yaml', 'json'],
  run: async (context, input) => {
    const { runConfigPrint } = await import('./print-handler.ts');
    return runConfigPrint(context, input);
  },
};
