// bke config validate: everything that is wrong with a file, at once, before anything is touched.
import type { Command } from '../context.ts';
import { fileOption, noFilesOption } from './options.ts';

export const configValidate: Command = {
  path: ['config', 'validate'],
  group: 'clusters',
  summary: 'Check a cluster.yaml or bootstrap.yaml',
  description:
    'Tells every mistake at once, each with file, line, column and field, and exits with 3 where there is one. Nothing is asked of any host: names and addresses, versions, blocks of addresses, logins and the files that are named are checked against each other. Every other command that takes the file says the same about it.',
  examples: [
    { command: 'bke config validate -f cluster.yaml', says: 'all mistakes, or a summary' },
    {
      command: 'bke config validate -f cluster.yaml --no-files',
      says: 'where the keys and passwords it names are not',
    },
    { command: 'bke config validate -f cluster.yaml -o json', says: 'for a script' },
  ],
  options: [fileOption, noFilesOption],
  output: ['table', 'json', 'yaml'],
  run: async (context, input) => {
    const { runConfigValidate } = await import('./validate-handler.ts');
    return runConfigValidate(context, input);
  },
};
