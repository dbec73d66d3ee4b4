// bke cluster kubeconfig NAME: the way into a cluster for kubectl.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption, namespaceOption } from '../management-options.ts';

export const clusterKubeconfig: Command = {
  path: ['cluster', 'kubeconfig'],
  group: 'clusters',
  summary: "Print a cluster's kubeconfig, or write it to a file",
  description:
    "It is an administrator's: whoever has it can do anything in the cluster. A file is written for its owner alone (0600); one that is there stays as it is unless --overwrite is given.",
  examples: [
    {
      command: 'bke cluster kubeconfig prod --to prod.kubeconfig',
      says: 'then: kubectl --kubeconfig prod.kubeconfig get nodes',
    },
    { command: 'bke cluster kubeconfig prod', says: 'to standard output' },
  ],
  args: [{ name: 'name', summary: "as 'bke cluster list' shows it" }],
  options: [
    { type: 'path', name: 'to', placeholder: 'FILE', summary: 'write it there instead' },
    { type: 'flag', name: 'overwrite', summary: 'where a file is there already' },
    namespaceOption,
    kubeconfigOption,
  ],
  output: [],
  run: async (context, input) => {
    const { runKubeconfig } = await import('./kubeconfig-handler.ts');
    return runKubeconfig(context, readInput(input));
  },
};
