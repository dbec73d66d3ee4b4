// bke host list: the hosts that the management cluster knows.
import type { Column } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import type { Command } from '../context.ts';
import { allNamespacesOption, kubeconfigOption, namespaceOption } from '../management-options.ts';

const columnsOf = (everywhere: boolean): readonly Column[] => [
  ...(everywhere ? [{ title: 'namespace', field: 'namespace' }] : []),
  { title: 'name', field: 'name' },
  { title: 'address', field: 'address' },
  { title: 'roles', field: 'roles' },
  { title: 'cluster', field: 'cluster' },
  { title: 'state', field: 'state' },
  { title: 'agent', field: 'agent' },
  { title: 'system', field: 'system', wide: true },
  { title: 'message', field: 'message', wide: true },
];

export const hostList: Command = {
  path: ['host', 'list'],
  group: 'hosts',
  summary: 'List the hosts that the management cluster knows',
  description:
    'State: Available where a cluster can have it, Claimed where one has it, else what is in the way; -o wide tells that in words.',
  examples: [
    { command: 'bke host list', says: 'one line per host' },
    { command: 'bke host list -A', says: 'of every namespace' },
    { command: 'bke host list -o wide', says: 'also what is in the way' },
  ],
  options: [namespaceOption, allNamespacesOption, kubeconfigOption],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  list: true,
  run: async (context, input) => {
    const [{ withManagement }, { listAll }, { hostRow }] = await Promise.all([
      import('../management.ts'),
      import('../cluster/read-world.ts'),
      import('./list-rows.ts'),
    ]);
    const read = readInput(input);
    const everywhere = read.flag('allNamespaces');
    const namespace = everywhere ? undefined : read.requiredText('namespace');
    const where = namespace === undefined ? 'any namespace' : `namespace ${namespace}`;
    return withManagement(context, read.text('kubeconfig'), async (client) => {
      const listed = await listAll(client, namespace, ['host']);
      const empty = `No hosts are known in ${where}. 'bke cluster create -f cluster.yaml' makes them known.`;
      return { kind: 'list', items: listed('host').map(hostRow), columns: columnsOf(everywhere), empty };
    });
  },
};
