// bke bundle inspect: what a bundle has inside.
import type { Command } from '../context.ts';

export const bundleInspect: Command = {
  path: ['bundle', 'inspect'],
  group: 'content',
  summary: 'Show what a bundle has inside',
  description:
    'Reads only the list of contents, however large the bundle is. An unsigned bundle or one of an unknown signer is shown too, and told as such; use `bke bundle verify` to prove one.',
  examples: [
    { command: 'bke bundle inspect bundle.tar', says: 'files, charts and images with version, platforms and size' },
    { command: 'bke bundle inspect bundle.tar -o json', says: 'for a script' },
  ],
  args: [{ name: 'file', summary: 'bundle' }],
  options: [
    {
      type: 'path',
      name: 'trust-key',
      placeholder: 'FILE',
      repeatable: true,
      summary: 'Ed25519 public key (PEM) to compare the signature with',
    },
  ],
  output: ['table', 'json', 'yaml'],
  run: async (context, input) => {
    const { runInspect } = await import('./inspect-handler.ts');
    return runInspect(context, input);
  },
};
