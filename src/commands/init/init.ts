// bke init: makes this host the bootstrap node: local services from a bundle, then a bootstrap cluster with Cluster API.
import type { Command } from '../context.ts';
import { initOptions } from './options.ts';

export const init: Command = {
  path: ['init'],
  group: 'bootstrap',
  summary: 'Set up the local services and the bootstrap cluster of a site on this host',
  description:
    'Starts the image registry, the file repository and the chart repository from a bundle; then makes a cluster of one node, by K3s or kubeadm, that runs Cluster API and the provider of bke. Needs no internet. Running it again changes only what is not so yet; stopped at any point, running it again goes on from there. Everything it changes is recorded, and `bke reset --all --mount` takes it away again.',
  examples: [
    {
      command: 'bke init --bundle bundle.tar --trust-key release.pub --bootstrap kubeadm',
      says: 'show what will be done, ask, do it: a cluster by kubeadm, of the images every cluster needs',
    },
    {
      command: 'bke init --bundle bundle.tar --trust-key release.pub',
      says: 'by K3s, which is smaller: for a bundle that has it (bke bundle inspect bundle.tar)',
    },
    {
      command: 'bke init --bundle bundle.tar --trust-key release.pub --yes --host-ip 10.0.0.5',
      says: 'for scripts, with the address others reach this host by',
    },
    { command: 'bke init --bundle bundle.tar --trust-key release.pub --dry-run', says: 'list every change, make none' },
    {
      command: 'bke init --bundle bundle.tar --trust-key release.pub -f cluster.yaml',
      says: 'then make a cluster, as bke cluster create does',
    },
    { command: 'bke init', says: 'put right what was changed by hand, with what was loaded before' },
  ],
  options: initOptions,
  run: async (context, input) => {
    const { runInit } = await import('./handler.ts');
    return runInit(context, input);
  },
};
