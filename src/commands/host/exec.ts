// bke host exec: runs a program on hosts of a cluster.yaml, over SSH.
import type { Command } from '../context.ts';
import { acceptNewHostKeysOption } from './host-options.ts';

export const hostExec: Command = {
  path: ['host', 'exec'],
  group: 'hosts',
  summary: 'Run a program on the hosts of a cluster.yaml, over SSH',
  description:
    'As root (by sudo where the login is not root), on all hosts of the file at once or on those that --host names; no shell reads the words, so pipes need `sh -c`. What each host prints is shown under its name when it is done: at most its last 4 MiB, and what is left out is told. Exit code 1 where the program failed somewhere, 5 where a host could not be reached.',
  examples: [
    { command: 'bke host exec -f cluster.yaml -- uptime', says: 'on every host' },
    {
      command: "bke host exec -f cluster.yaml --host w1 -- sh -c 'journalctl -u bke-agent | tail -50'",
      says: 'on one, with a shell',
    },
  ],
  args: [{ name: 'command', summary: 'the program and its arguments, after --', variadic: true }],
  options: [
    {
      type: 'path',
      name: 'file',
      short: 'f',
      placeholder: 'FILE',
      summary: 'cluster.yaml with the hosts and their logins',
    },
    {
      type: 'text',
      name: 'host',
      placeholder: 'NAME',
      namesFrom: 'host list',
      repeatable: true,
      summary: 'only on this one',
    },
    {
      type: 'duration',
      name: 'timeout',
      placeholder: 'TIME',
      summary: 'for each host; then the program is ended (default: 1m)',
    },
    { type: 'integer', name: 'connections', placeholder: 'N', default: 50, summary: 'hosts at once' },
    acceptNewHostKeysOption,
  ],
  output: ['table', 'json', 'yaml'],
  run: async (context, input) => {
    const { runHostExec } = await import('./exec-handler.ts');
    return runHostExec(context, input);
  },
};
