// bke cluster list: the clusters that the management cluster keeps.
import { formatDuration } from '../../lib/duration.ts';
import type { Column } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { allNamespacesOption, kubeconfigOption, namespaceOption } from '../management-options.ts';

const columnsAt = (now: Date, everywhere: boolean): readonly Column[] => [
  ...(everywhere ? [{ title: 'namespace', field: 'namespace' }] : []),
  { title: 'name', field: 'name' },
  { title: 'state', field: 'state' },
  { title: 'control plane', field: 'controlPlane' },
  { title: 'workers', field: 'workers' },
  { title: 'version', field: 'version' },
  { title: 'age', field: 'created', text: (time) => formatDuration(now.getTime() - Date.parse(String(time))) },
  { title: 'endpoint', field: 'endpoint', wide: true },
  { title: 'reason', field: 'reason', wide: true },
];

export const clusterList: Command = {
  path: ['cluster', 'list'],
  group: 'clusters',
  summary: 'List the clusters of this site',
  description: 'Control plane and workers: nodes that are ready, of the hosts that are meant for them.',
  examples: [
    { command: 'bke cluster list', says: 'one line per cluster' },
    { command: 'bke cluster list -A', says: 'of every namespace' },
    { command: 'bke cluster list -o wide', says: 'also where its API server is, and why it is in that state' },
  ],
  options: [namespaceOption, allNamespacesOption, kubeconfigOption],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  list: true,
  run: async (context, input) => {
    const [{ withManagement }, { everyKind, listAll }, { clusterRows }] = await Promise.all([
      import('../management.ts'),
      import('./read-world.ts'),
      import('./list-rows.ts'),
    ]);
    const read = readInput(input);
    const everywhere = read.flag('allNamespaces');
    const namespace = everywhere ? undefined : read.requiredText('namespace');
    const where = namespace === undefined ? 'any namespace' : `namespace ${namespace}`;
    return withManagement(context, read.text('kubeconfig'), async (client) => ({
      kind: 'list',
      items: clusterRows(await listAll(client, namespace, everyKind)),
      columns: columnsAt(context.now(), everywhere),
      empty: `There are no clusters in ${where}. 'bke cluster create -f cluster.yaml' makes one.`,
    }));
  },
};
