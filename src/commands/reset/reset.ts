// bke reset: gives this host back as it was.
import type { Command } from '../context.ts';

export const reset: Command = {
  path: ['reset'],
  group: 'bootstrap',
  summary: 'Give this host back as it was before bke and Kubernetes',
  description:
    'Takes Kubernetes off this host and undoes every recorded change, shows first what it will do, and looks again at the end: it ends well only when nothing is left. It works on any host, with or without a record, half set up or never set up, and running it again goes on where it stopped. What is mounted is unmounted and never deleted; what neither bke nor Kubernetes made stays.',
  examples: [
    { command: 'bke reset --all --mount', says: 'everything: cluster, agent, local services and their data' },
    { command: 'bke reset', says: 'the cluster only; agent and local services stay' },
    { command: 'bke reset --all --mount --dry-run', says: 'list everything that would go, change nothing' },
    { command: 'bke reset --all --mount --yes', says: 'for scripts' },
  ],
  options: [
    { name: 'all', type: 'flag', summary: 'also what enrolled the host: the agent and its entries' },
    { name: 'mount', type: 'flag', summary: 'also the local services and the data they serve' },
    { name: 'purge-volumes', type: 'flag', summary: 'also the data of persistent volumes, which is kept otherwise' },
    { name: 'dry-run', type: 'flag', summary: 'show the plan and change nothing' },
    { name: 'yes', short: 'y', type: 'flag', aliases: ['confirm'], summary: 'do not ask' },
  ],
  run: async (context, input) => {
    const { runReset } = await import('./handler.ts');
    return runReset(context, input);
  },
};
