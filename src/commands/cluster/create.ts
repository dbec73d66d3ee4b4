// bke cluster create: a Kubernetes cluster on the hosts of a cluster.yaml.
import type { Command } from '../context.ts';
import { acceptNewHostKeysOption, ignoreCheckOption, lookConnectionsOption } from '../host/host-options.ts';
import { kubeconfigOption } from '../management-options.ts';

export const clusterCreate: Command = {
  path: ['cluster', 'create'],
  group: 'clusters',
  summary: 'Make a Kubernetes cluster of the hosts of a cluster.yaml',
  description:
    'Checks all hosts over SSH, writes the cluster and its hosts into the management cluster, and watches how they become nodes there: phase by phase, with what each host waits for and why. The work is done in the management cluster: Ctrl-C only stops watching. Running it again watches on while the cluster is being made, goes on with one that is half made, and does nothing where all is as the file says. Exit code 4 where a host is not fit, 5 where one cannot be reached, 7 where another operation of the cluster runs.',
  examples: [
    { command: 'bke cluster create -f cluster.yaml', says: 'check the hosts, make it, watch how it comes up' },
    {
      command: 'bke cluster create -f cluster.yaml --accept-new-host-keys',
      says: 'where nobody compares the keys of new hosts',
    },
    {
      command: 'bke cluster create -f cluster.yaml --dry-run',
      says: 'check the hosts, and list what would be made and done, host by host',
    },
    { command: 'bke cluster create -f cluster.yaml -o json', says: 'all events for programs' },
  ],
  options: [
    { type: 'path', name: 'file', short: 'f', placeholder: 'FILE', required: true, summary: 'cluster.yaml' },
    { type: 'flag', name: 'dry-run', summary: 'check the hosts and list what would be made; make nothing' },
    acceptNewHostKeysOption,
    ignoreCheckOption,
    lookConnectionsOption,
    kubeconfigOption,
    // Nothing is asked; scripts written for commands that ask give it all the same.
    { type: 'flag', name: 'yes', short: 'y', aliases: ['confirm'], hidden: true, summary: 'has no effect' },
  ],
  run: async (context, input) => {
    const { runClusterCreate } = await import('./create-handler.ts');
    return runClusterCreate(context, input);
  },
};
