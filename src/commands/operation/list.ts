// bke operation list: what was done from this machine, by its journals, and with the clusters that are kept from here.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption } from '../management-options.ts';

const mostShown = 20;

export const operationList: Command = {
  path: ['operation', 'list'],
  group: 'bootstrap',
  summary: 'List the operations run from this machine, and those of clusters',
  description:
    'Reads the journals that bke keeps of the last 200 operations: as root those of this machine, else your own. Operations of clusters are carried out and kept in the management cluster. Shown are the newest 20.',
  examples: [
    { command: 'bke operation list', says: 'the newest last' },
    { command: 'bke operation list --all', says: 'all that are kept' },
  ],
  options: [{ type: 'flag', name: 'all', summary: 'all that are kept instead of the newest 20' }, kubeconfigOption],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  list: true,
  run: async (context, input) => {
    const [{ operationSummaries }, { clusterSummaries }] = await Promise.all([
      import('./journals.ts'),
      import('./cluster-operations.ts'),
    ]);
    const read = readInput(input);
    const most = read.flag('all') ? Number.POSITIVE_INFINITY : mostShown;
    const local = await operationSummaries(context.operationsDirectory, most);
    const ofClusters = await clusterSummaries(context, read.text('kubeconfig'));
    const all = [...local.items, ...ofClusters];
    // Those of this machine have an order of their own.
    const ordered =
      ofClusters.length === 0 ? all : all.toSorted((a, b) => Date.parse(a.started) - Date.parse(b.started));
    const items = ordered.slice(-Math.min(most, all.length));
    const kept = local.kept + ofClusters.length;
    if (items.length < kept) context.note(`The newest ${items.length} of ${kept}; --all shows all.`);
    return {
      kind: 'list',
      items,
      columns: [
        { title: 'id', field: 'name' },
        { title: 'action', field: 'action' },
        { title: 'target', field: 'target' },
        { title: 'outcome', field: 'outcome' },
        { title: 'started', field: 'when' },
        { title: 'took', field: 'took' },
        { title: 'events', field: 'events', wide: true },
      ],
      empty: 'No operations were run from this machine yet.',
    };
  },
};
