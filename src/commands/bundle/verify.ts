// bke bundle verify: proves a bundle before it is carried anywhere.
import type { Command } from '../context.ts';
import { platformOption, trustOptions } from './options.ts';

export const bundleVerify: Command = {
  path: ['bundle', 'verify'],
  group: 'content',
  summary: 'Prove that a bundle is whole and signed by someone you trust',
  description:
    'Checks the signature, that nothing is missing and nothing more is there, the digest of every blob, and that each image has all its parts for every platform. Reads the whole file once; changes nothing.',
  examples: [
    { command: 'bke bundle verify bundle.tar --trust-key key.pub', says: 'with the public key of who signed it' },
    { command: 'bke bundle verify bundle.tar --allow-unsigned -o json', says: 'content only, for a script' },
    { command: 'openssl pkey -in key.pem -pubout -out key.pub', says: 'make the public key from the private one' },
  ],
  args: [{ name: 'file', summary: 'bundle' }],
  options: [...trustOptions, platformOption('refuse a bundle that was not built for this platform')],
  output: ['table', 'json', 'yaml'],
  run: async (context, input) => {
    const { runVerify } = await import('./verify-handler.ts');
    return runVerify(context, input);
  },
};
