// bke cluster logs NAME: what happened with a cluster.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption, namespaceOption } from '../management-options.ts';

export const clusterLogs: Command = {
  path: ['cluster', 'logs'],
  group: 'clusters',
  summary: 'Print what happened with a cluster, in order of time',
  description:
    'What its operations told (the newest 500 events of each), and what Kubernetes tells of its parts (it forgets after an hour).',
  examples: [
    { command: 'bke cluster logs prod', says: 'all that is known' },
    { command: 'bke cluster logs prod -f', says: 'and what comes, until Ctrl-C' },
  ],
  args: [{ name: 'name', summary: "as 'bke cluster list' shows it", namesFrom: 'cluster list' }],
  options: [
    { type: 'flag', name: 'follow', short: 'f', summary: 'go on with what comes' },
    namespaceOption,
    kubeconfigOption,
  ],
  output: [],
  run: async (context, input) => {
    const { runLogs } = await import('./logs-handler.ts');
    return runLogs(context, readInput(input));
  },
};
