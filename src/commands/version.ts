// bke version: which bke this is.
import { bkeVersion } from '../lib/version.ts';
import type { Command } from './context.ts';

export const version: Command = {
  path: ['version'],
  group: 'help',
  summary: 'Show the version of bke',
  examples: [
    { command: 'bke version', says: 'the version and what it was built with' },
    { command: 'bke version -o json', says: 'the same for programs' },
  ],
  output: ['table', 'json', 'yaml'],
  run: async () => {
    const value = {
      version: await bkeVersion(),
      node: process.versions.node,
      platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    };
    return { kind: 'object', value, text: `bke ${value.version} (${value.platform}, node ${value.node})\n` };
  },
};
