// bke bundle load: brings a bundle's content into a registry and a folder of files.
import type { Command } from '../context.ts';
import { platformOption, trustOptions } from './options.ts';

export const bundleLoad: Command = {
  path: ['bundle', 'load'],
  group: 'content',
  summary: 'Load a bundle into a registry and a file repository',
  description:
    'Images go to the registry under the name of their source: docker.io/library/x becomes HOST:PORT/docker.io/library/x. Files and charts go to a folder that `bke serve` serves. What is there already is skipped, so the same command goes on after a stop. `bke init --bundle` does the same for the local services.',
  examples: [
    {
      command:
        'bke bundle load bundle.tar --registry reg.example:5000 --registry-ca ca.pem --username u --password-file pw',
      says: "images into the site's own registry",
    },
    { command: 'bke bundle load bundle.tar --files /srv/bke', says: 'files and charts only' },
  ],
  args: [{ name: 'file', summary: 'bundle' }],
  options: [
    { type: 'text', name: 'registry', placeholder: 'HOST:PORT', summary: 'push the images there, over TLS' },
    {
      type: 'path',
      name: 'registry-ca',
      placeholder: 'FILE',
      summary: 'CA certificate (PEM) of the registry; only it is trusted',
    },
    { type: 'text', name: 'username', placeholder: 'NAME', summary: 'login of the registry' },
    { type: 'path', name: 'password-file', placeholder: 'FILE', summary: 'file with the password of that login' },
    { type: 'path', name: 'files', placeholder: 'DIR', summary: 'put files and charts into this data directory' },
    { type: 'flag', name: 'force', summary: 'replace charts of the same version that have other content' },
    ...trustOptions,
    platformOption('refuse a bundle that was not built for this platform'),
  ],
  output: ['table', 'json', 'yaml'],
  run: async (context, input) => {
    const { runLoad } = await import('./load-handler.ts');
    return runLoad(context, input);
  },
};
