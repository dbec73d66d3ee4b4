// bke config init: a commented file to begin with.
import type { Command } from '../context.ts';
import { configKinds } from './options.ts';

export const configInit: Command = {
  path: ['config', 'init'],
  group: 'clusters',
  summary: 'Write a commented cluster.yaml or bootstrap.yaml to begin with',
  description:
    'Writes a valid file with every field: those one has to fill in, and the others as comments with their defaults. A file that is there already is never overwritten.',
  examples: [
    { command: 'bke config init -o cluster.yaml', says: 'a cluster to fill in' },
    { command: 'bke config init --kind bootstrap -o bootstrap.yaml', says: 'settings for bke init' },
  ],
  options: [
    {
      type: 'text',
      name: 'kind',
      placeholder: 'KIND',
      choices: configKinds,
      default: 'cluster',
      summary: 'what the file is about',
    },
    {
      type: 'path',
      name: 'output',
      short: 'o',
      placeholder: 'FILE',
      summary: 'file to write; default standard output',
    },
  ],
  output: [],
  run: async (context, input) => {
    const { runConfigInit } = await import('./init-handler.ts');
    return runConfigInit(context, input);
  },
};
