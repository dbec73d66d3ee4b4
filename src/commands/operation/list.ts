// bke operation list: what was done from this machine, by its journals.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';

const mostShown = 20;

export const operationList: Command = {
  path: ['operation', 'list'],
  group: 'bootstrap',
  summary: 'List the operations run from this machine',
  description:
    'Reads the journals that bke keeps of the last 200 operations: as root those of this machine, else your own. Shown are the newest 20.',
  examples: [
    { command: 'bke operation list', says: 'the newest last' },
    { command: 'bke operation list --all', says: 'all that are kept' },
  ],
  options: [{ type: 'flag', name: 'all', summary: 'all that are kept instead of the newest 20' }],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  list: true,
  run: async (context, input) => {
    const { operationSummaries } = await import('./journals.ts');
    const most = readInput(input).flag('all') ? Number.POSITIVE_INFINITY : mostShown;
    const { items, kept } = await operationSummaries(context.operationsDirectory, most);
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
