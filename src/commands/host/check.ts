// bke host check: whether the hosts of a cluster.yaml can carry it, without changing one of them.
import type { Command } from '../context.ts';
import { acceptNewHostKeysOption, ignoreCheckOption, lookConnectionsOption } from './host-options.ts';

export const hostCheck: Command = {
  path: ['host', 'check'],
  group: 'hosts',
  summary: 'Check whether the hosts of a cluster.yaml can carry the cluster',
  description:
    'Logs in to all hosts at once, looks at each, and compares them with each other. Nothing is changed there. Equal findings are told once, with the hosts they are true of. A host that cannot be looked at fails alone. Exit code 4 where a check found an error, 5 where a host could not be looked at, 3 where the file has a mistake; warnings alone are no failure.',
  examples: [
    { command: 'bke host check -f cluster.yaml', says: 'all that is in the way, then one line per host' },
    { command: 'bke host check -f cluster.yaml -o wide', says: 'also what each host is' },
    { command: 'bke host check -f cluster.yaml --ignore-check cpu', says: 'with a check left out' },
    {
      command: 'bke host check -f cluster.yaml --accept-new-host-keys',
      says: 'where nobody compares the keys of new hosts',
    },
    { command: 'bke host check -f cluster.yaml -o json', says: 'all findings and facts for programs' },
  ],
  options: [
    { type: 'path', name: 'file', short: 'f', placeholder: 'FILE', required: true, summary: 'cluster.yaml' },
    ignoreCheckOption,
    acceptNewHostKeysOption,
    lookConnectionsOption,
  ],
  output: ['table', 'wide', 'json', 'yaml', 'name'],
  list: true,
  run: async (context, input) => {
    const { runHostCheck } = await import('./check-handler.ts');
    return runHostCheck(context, input);
  },
};
