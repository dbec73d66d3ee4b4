// bke cluster kubeconfig NAME: the way into a cluster for kubectl.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption, namespaceOption } from '../management-options.ts';

export const clusterKubeconfig: Command = {
  path: ['cluster', 'kubeconfig'],
  group: 'clusters',
  summary: "Print a cluster's kubeconfig, or write it to a file",
  description:
    "It is an administrator's: whoever has it can do anything in the cluster. A file is written for its owner alone (0600); one that is there stays as it is unless --overwrite or --merge is given. --merge takes it up in --to FILE, else in the file that kubectl uses (KUBECONFIG, ~/.kube/config): entries of the same name are replaced, all others and the current context stay, and the file as it was is kept beside it. Files of the Kubernetes of this host (/etc/kubernetes, /etc/rancher) are refused: they go with it.",
  examples: [
    {
      command: 'bke cluster kubeconfig prod --to prod.kubeconfig',
      says: 'then: kubectl --kubeconfig prod.kubeconfig get nodes',
    },
    { command: 'bke cluster kubeconfig prod --merge', says: 'into ~/.kube/config, beside what is in it' },
    { command: 'bke cluster kubeconfig prod', says: 'to standard output' },
  ],
  args: [{ name: 'name', summary: "as 'bke cluster list' shows it", namesFrom: 'cluster list' }],
  options: [
    { type: 'path', name: 'to', placeholder: 'FILE', summary: 'write it there instead' },
    { type: 'flag', name: 'overwrite', summary: 'where a file is there already' },
    { type: 'flag', name: 'merge', summary: 'take it up in the file that is there' },
    namespaceOption,
    kubeconfigOption,
  ],
  output: [],
  run: async (context, input) => {
    const { runKubeconfig } = await import('./kubeconfig-handler.ts');
    return runKubeconfig(context, readInput(input));
  },
};
