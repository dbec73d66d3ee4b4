// bke operation attach ID: watches an operation of a cluster.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption } from '../management-options.ts';

export const operationAttach: Command = {
  path: ['operation', 'attach'],
  group: 'clusters',
  summary: 'Watch an operation of a cluster, from where it is',
  description:
    'Shows what the operation told so far (the newest 500 events), then all that comes, until it ends; it ends as the operation does. Ctrl-C only stops watching.',
  examples: [{ command: 'bke operation attach 20261130-101500-cluster-create-ab12', says: 'watch it to its end' }],
  args: [{ name: 'id', summary: "as 'bke operation list' shows it", namesFrom: 'operation list' }],
  options: [kubeconfigOption],
  run: async (context, input) => {
    const [{ withManagement }, { findOperation }, { follow }] = await Promise.all([
      import('../management.ts'),
      import('./find.ts'),
      import('./follow.ts'),
    ]);
    const read = readInput(input);
    const kubeconfig = read.text('kubeconfig');
    const name = read.requiredText('id');
    await withManagement(context, kubeconfig, async (client) => {
      const { namespace = '' } = (await findOperation(context, client, name)).metadata;
      await follow(context, client, { namespace, name });
    });
    return { kind: 'none' };
  },
};
