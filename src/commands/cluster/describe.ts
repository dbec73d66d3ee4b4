// bke cluster describe NAME: what a cluster is made of, and what each part says of itself.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption, namespaceOption } from '../management-options.ts';

export const clusterDescribe: Command = {
  path: ['cluster', 'describe'],
  group: 'clusters',
  summary: 'Show what a cluster is made of, and what holds each part',
  description:
    'A tree: the cluster, its infrastructure, its control plane and workers, their machines with hosts and what the agents there do. Of the conditions only those that are not as they should be are shown; --all shows every one. For programs -o json has the whole tree.',
  examples: [
    { command: 'bke cluster describe prod', says: 'what is not as it should be' },
    { command: 'bke cluster describe prod --all', says: 'every condition' },
    { command: 'bke cluster describe prod -o json', says: 'the same for programs' },
  ],
  args: [{ name: 'name', summary: "as 'bke cluster list' shows it", namesFrom: 'cluster list' }],
  options: [
    { type: 'flag', name: 'all', summary: 'also the conditions that are as they should be' },
    namespaceOption,
    kubeconfigOption,
  ],
  output: ['table', 'json', 'yaml'],
  list: true,
  run: async (context, input) => {
    const [{ withManagement }, { readWorld }, { describeTree }, { treeText }] = await Promise.all([
      import('../management.ts'),
      import('./read-world.ts'),
      import('./describe-tree.ts'),
      import('./describe-text.ts'),
    ]);
    const read = readInput(input);
    return withManagement(context, read.text('kubeconfig'), async (client) => {
      const { world } = await readWorld(client, read.requiredText('namespace'), read.requiredText('name'));
      const tree = describeTree(world, { all: read.flag('all') });
      return { kind: 'object', value: tree, ...treeText(tree, context.now()) };
    });
  },
};
