// bke operation cancel ID: stops an operation of a cluster at its next safe point.
import type { Command } from '../context.ts';
import { kubeconfigOption } from '../management-options.ts';

export const operationCancel: Command = {
  path: ['operation', 'cancel'],
  group: 'clusters',
  summary: 'Stop an operation of a cluster at its next safe point',
  description:
    'What agents are doing comes to its end, nothing new is begun, and the cluster is paused. Nothing that was done is undone: the command that began it goes on from there.',
  examples: [
    {
      command: 'bke operation cancel 20261130-101500-cluster-create-ab12',
      says: 'stop, and tell what state each host is in',
    },
  ],
  args: [{ name: 'id', summary: "as 'bke operation list' shows it", namesFrom: 'operation list' }],
  options: [kubeconfigOption],
  run: async (context, input) => {
    const { runCancel } = await import('./cancel-handler.ts');
    return runCancel(context, input);
  },
};
