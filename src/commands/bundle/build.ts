// bke bundle build: one file with everything a release needs, for places without internet.
import type { Command } from '../context.ts';
import { platformOption } from './options.ts';

export const bundleBuild: Command = {
  path: ['bundle', 'build'],
  group: 'content',
  summary: 'Build a bundle from a release manifest',
  description:
    'Gathers every file, chart and image that the release manifest names into one tar file: an OCI image layout with bundle.json, which lists each with its digest. The same manifest and sources give the same bytes. An artifact that is missing for a wanted platform is refused by name, all of them at once, before anything is written.',
  examples: [
    { command: 'bke bundle build -f release.yaml -o bundle.tar --sign-key key.pem', says: 'build and sign' },
    { command: 'bke bundle build -f release.yaml -o bundle.tar --platform linux/arm64', says: 'for one platform only' },
    { command: 'openssl genpkey -algorithm ed25519 -out key.pem', says: 'make the key it is signed with' },
  ],
  options: [
    { type: 'path', name: 'file', short: 'f', placeholder: 'FILE', required: true, summary: 'release manifest (YAML)' },
    { type: 'path', name: 'output', short: 'o', placeholder: 'FILE', required: true, summary: 'bundle to write' },
    {
      type: 'path',
      name: 'sign-key',
      placeholder: 'FILE',
      summary: 'sign with this Ed25519 private key (PKCS #8 PEM)',
    },
    platformOption('only for this platform instead of all that the release is made for'),
    {
      type: 'path',
      name: 'ca',
      placeholder: 'FILE',
      repeatable: true,
      summary: 'trust this CA certificate (PEM) of registries and download servers too',
    },
    {
      type: 'path',
      name: 'cache-dir',
      placeholder: 'DIR',
      summary: 'where downloads are kept; default $XDG_CACHE_HOME/bke/blobs',
    },
  ],
  output: [],
  run: async (context, input) => {
    const { runBuild } = await import('./build-handler.ts');
    return runBuild(context, input);
  },
};
