// bke operation list: what was done from this machine, by its journals.
import type { Command } from '../context.ts';

export const operationList: Command = {
  path: ['operation', 'list'],
  group: 'bootstrap',
  summary: 'List the operations run from this machine',
  examples: [{ command: 'bke operation list', says: 'the newest last' }],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  run: async (context) => {
    const { operationSummaries } = await import('./journals.ts');
    return {
      kind: 'list',
      items: await operationSummaries(context.operationsDirectory),
      columns: [
        { title: 'id', field: 'name' },
        { title: 'action', field: 'action' },
        { title: 'target', field: 'target' },
        { title: 'outcome', field: 'outcome' },
        { title: 'started', field: 'started' },
        { title: 'took', field: 'took' },
        { title: 'events', field: 'events', wide: true },
      ],
      empty: 'No operations were run from this machine yet.',
    };
  },
};
