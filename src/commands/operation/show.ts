// bke operation show ID: the events of one operation.
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { kubeconfigOption } from '../management-options.ts';

export const operationShow: Command = {
  path: ['operation', 'show'],
  group: 'bootstrap',
  summary: 'Show what an operation did',
  examples: [
    { command: 'bke operation show 20261130-101500-init-ab12', says: 'all it told' },
    { command: 'bke operation show 20261130-101500-init-ab12 -o json', says: 'its events for programs' },
  ],
  args: [{ name: 'id', summary: "as 'bke operation list' shows it", namesFrom: 'operation list' }],
  options: [kubeconfigOption],
  output: ['table', 'json', 'yaml'],
  list: true,
  run: async (context, input) => {
    const [{ isJournal, operationEvents, withWords }, { clusterOperation }, { ringEvents }] = await Promise.all([
      import('./journals.ts'),
      import('./cluster-operations.ts'),
      import('./ring-events.ts'),
    ]);
    const read = readInput(input);
    const id = read.requiredText('id');
    const isLocal = await isJournal(context.operationsDirectory, id);
    const ofCluster = isLocal ? undefined : await clusterOperation(context, read.text('kubeconfig'), id);
    return {
      kind: 'list',
      items:
        ofCluster === undefined
          ? await operationEvents(context.operationsDirectory, id)
          : ringEvents(ofCluster).map(withWords),
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
