// bke operation show ID: the events of one operation.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';

export const operationShow: Command = {
  path: ['operation', 'show'],
  group: 'bootstrap',
  summary: 'Show what an operation did',
  examples: [
    { command: 'bke operation show 20261130-101500-init-ab12', says: 'all it told' },
    { command: 'bke operation show 20261130-101500-init-ab12 -o json', says: 'its events for programs' },
  ],
  args: [{ name: 'id', summary: "as 'bke operation list' shows it" }],
  output: ['table', 'json', 'yaml'],
  list: true,
  run: async (context, input) => {
    const { operationEvents } = await import('./journals.ts');
    return {
      kind: 'list',
      items: await operationEvents(context.operationsDirectory, readInput(input).requiredText('id')),
      columns: [
        { title: 'time', field: 'time' },
        { title: 'event', field: 'type' },
        { title: 'host', field: 'host' },
        { title: 'step', field: 'step' },
        { title: 'what', field: 'what' },
      ],
      empty: 'The operation ended before it told anything.',
    };
  },
};
