// A small command table with every kind of option, whose handlers only note what they got.
import type { Command } from '../../src/commands/context.ts';
import type { CommandInput } from '../../src/lib/command.ts';

interface NotedRun {
  readonly path: string;
  readonly input: CommandInput;
}

export interface FakeCommands {
  readonly commands: readonly Command[];
  /** What ran; empty where the command line was refused. */
  readonly runs: NotedRun[];
}

export function fakeCommands(): FakeCommands {
  const runs: NotedRun[] = [];
  const note = (path: string): Command['run'] => {
    return async (_context, input) => {
      runs.push({ path, input });
      return { kind: 'none' };
    };
  };
  const commands: Command[] = [
    {
      path: ['init'],
      group: 'bootstrap',
      summary: 'Make this host the bootstrap node',
      examples: [{ command: 'bke init --bundle bundle.tar', says: 'from a bundle' }],
      options: [
        { type: 'path', name: 'bundle', placeholder: 'FILE', summary: 'bundle to load' },
        { type: 'path', name: 'data-dir', placeholder: 'DIR', summary: 'where data is kept' },
        { type: 'text', name: 'host-ip', placeholder: 'IP', aliases: ['hostIP'], summary: 'address of this host' },
        {
          type: 'port',
          name: 'registry-port',
          placeholder: 'PORT',
          aliases: ['imageRepoPort'],
          default: 40443,
          summary: 'registry',
        },
        {
          type: 'text',
          name: 'bootstrap',
          placeholder: 'KIND',
          choices: ['k3s', 'kubeadm'],
          default: 'k3s',
          summary: 'cluster',
        },
        { type: 'duration', name: 'timeout', placeholder: 'TIME', default: 60_000, summary: 'in all' },
        { type: 'integer', name: 'tries', placeholder: 'N', summary: 'how often' },
        { type: 'text', name: 'ignore-check', placeholder: 'CHECK', repeatable: true, summary: 'checks to leave out' },
        { type: 'flag', name: 'ui', default: true, summary: 'without the web UI' },
        { type: 'flag', name: 'yes', aliases: ['confirm'], summary: 'do not ask' },
      ],
      run: note('init'),
    },
    {
      path: ['reset'],
      group: 'bootstrap',
      summary: 'Give this host back as it was',
      examples: [{ command: 'bke reset --all --mount', says: 'everything' }],
      options: [
        { type: 'flag', name: 'all', summary: 'also the agent' },
        { type: 'flag', name: 'mount', summary: 'also services and data' },
        { type: 'flag', name: 'yes', aliases: ['confirm'], summary: 'do not ask' },
      ],
      run: note('reset'),
    },
    {
      path: ['bundle', 'build'],
      group: 'content',
      summary: 'Build a bundle',
      examples: [],
      args: [{ name: 'release', summary: 'release manifest' }],
      options: [{ type: 'path', name: 'to', placeholder: 'FILE', required: true, summary: 'bundle to write' }],
      output: ['table', 'json', 'yaml'],
      run: async (_context, input) => {
        runs.push({ path: 'bundle build', input });
        return { kind: 'object', value: { path: input['to'], digest: 'sha256:00' } };
      },
    },
    {
      path: ['bundle', 'verify'],
      group: 'content',
      summary: 'Verify a bundle',
      examples: [],
      args: [
        { name: 'file', summary: 'bundle' },
        { name: 'more', summary: 'more bundles', optional: true, variadic: true },
      ],
      output: ['table', 'wide', 'json', 'yaml', 'name'],
      list: true,
      run: async (_context, input) => {
        runs.push({ path: 'bundle verify', input });
        return {
          kind: 'list',
          items:
            input['file'] === 'none'
              ? []
              : [
                  { name: 'a', state: 'ok', size: 12 },
                  { name: '长名', state: 'bad\u001B[31m', size: undefined },
                ],
          columns: [
            { title: 'name', field: 'name' },
            { title: 'size', field: 'size', wide: true },
            { title: 'state', field: 'state' },
          ],
          empty: 'No bundles.',
        };
      },
    },
    {
      path: ['secret'],
      group: 'roles',
      summary: 'Hidden',
      hidden: true,
      examples: [],
      output: [],
      run: note('secret'),
    },
  ];
  return { commands, runs };
}
