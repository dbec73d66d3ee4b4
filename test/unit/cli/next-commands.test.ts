// What people are told to type next keeps what they gave: where to look, and everything else of a command that is to be confirmed.
import { describe, expect, it } from 'vitest';
import { completedEvent, completer } from '../../../src/cli/next-commands.ts';
import { commands } from '../../../src/cli/table.ts';
import type { Command } from '../../../src/commands/context.ts';
import { kubeconfigOption, namespaceOption } from '../../../src/commands/management-options.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { sameCommand } from '../../../src/lib/same-command.ts';
import { runCli } from '../../fakes/cli.ts';

const asking: Pick<Command, 'path' | 'options'> = {
  path: ['cluster', 'try'],
  options: [namespaceOption, kubeconfigOption],
};
const told = (text: string, input: object, own?: string): string =>
  completer(commands, asking, { namespace: 'bke', ...input }, () => own)(text);
const file = { kubeconfig: 'm.conf' };
const id = '20261130-101500-cluster-create-ab12';

describe('a command that is told', () => {
  it.each([
    [`'bke operation attach ${id}' shows how`, file, `'bke operation attach ${id} --kubeconfig m.conf' shows how`],
    [
      `watch it again:  bke operation attach ${id}`,
      file,
      `watch it again:  bke operation attach ${id} --kubeconfig m.conf`,
    ],
    ['bke cluster describe prod', { ...file, namespace: 'b' }, 'bke cluster describe prod -n b --kubeconfig m.conf'],
    [
      "'bke cluster list -A' tells more.",
      { ...file, namespace: 'b' },
      "'bke cluster list -A --kubeconfig m.conf' tells more.",
    ],
    ['bke cluster list -n c', { namespace: 'b' }, 'bke cluster list -n c'],
    [
      "'bke cluster create -f FILE' goes on.",
      { ...file, namespace: 'b' },
      "'bke cluster create -f FILE --kubeconfig m.conf' goes on.",
    ],
    ['bke host list', { kubeconfig: 'a b' }, "bke host list --kubeconfig 'a b'"],
    ["'kubectl -n bke get machines' shows them", file, "'kubectl --kubeconfig m.conf -n bke get machines' shows them"],
    [
      `lift it: kubectl -n bke patch cluster prod -p '{"spec":{"paused":null}}'`,
      file,
      `lift it: kubectl --kubeconfig m.conf -n bke patch cluster prod -p '{"spec":{"paused":null}}'`,
    ],
    [
      "'bke cluster create -f FILE' once more, or kubectl -n bke delete lease agent-w1. Else (kubectl -n bke get machines).",
      file,
      "'bke cluster create -f FILE --kubeconfig m.conf' once more, or kubectl --kubeconfig m.conf -n bke delete lease agent-w1. Else (kubectl --kubeconfig m.conf -n bke get machines).",
    ],
    // What takes no such option, or is none.
    ['kubeadm, kubelet and kubectl v1.34.3', file, 'kubeadm, kubelet and kubectl v1.34.3'],
    ['kubectl --kubeconfig w.conf -n x get pods', file, 'kubectl --kubeconfig w.conf -n x get pods'],
    ["run 'bke reset --all' on the machine", file, "run 'bke reset --all' on the machine"],
    [
      'bke host exec -f FILE --host w1 -- journalctl -u kubelet',
      file,
      'bke host exec -f FILE --host w1 -- journalctl -u kubelet',
    ],
    ['bke cluster list did not end well', file, 'bke cluster list did not end well'],
    [`'bke operation attach ${id}' shows how`, {}, `'bke operation attach ${id}' shows how`],
  ])('%s: %j', (text, input, wanted) => {
    expect(told(text, input)).toBe(wanted);
  });

  it('has of kubectl the kubeconfig of this host, which bke finds by itself', () => {
    const own = '/etc/kubernetes/admin.conf';
    const text = "'kubectl -n bke get machines' shows them, 'bke host list' too";
    const wanted = `'kubectl --kubeconfig ${own} -n bke get machines' shows them, 'bke host list' too`;
    expect(told(text, {}, own)).toBe(wanted);
    expect(told('see: kubectl -n bke get pods', file, own)).toBe('see: kubectl --kubeconfig m.conf -n bke get pods');
  });

  it('is completed in events too', () => {
    const header = { seq: 1, time: '', operation: id };
    const complete = completer(commands, asking, { namespace: 'b', ...file });
    const error = { code: 'BKE_HOST_RESET', message: 'm', hint: "'bke host list' shows it" } as const;
    expect(
      completedEvent(
        {
          ...header,
          type: 'operation.finished',
          outcome: 'failed',
          changed: false,
          hosts: [{ host: 'w1', state: 'failed', changed: false, error }],
          error,
          next: ['bke cluster describe prod'],
          durationMs: 1,
        },
        complete,
      ),
    ).toMatchObject({
      next: ['bke cluster describe prod -n b --kubeconfig m.conf'],
      error: { hint: "'bke host list -n b --kubeconfig m.conf' shows it" },
      hosts: [{ error: { hint: "'bke host list -n b --kubeconfig m.conf' shows it" } }],
    });
  });
});

it('tells errors, notes and empty lists with where this command looked', async () => {
  const run = async (words: readonly string[], command: Command['run']) => {
    const own: Command = {
      path: ['try'],
      group: 'clusters',
      summary: 'x',
      examples: [],
      options: asking.options ?? [],
      output: ['table', 'json'],
      list: true,
      run: command,
    };
    return runCli(['try', '-n', 'b', '--kubeconfig', 'm.conf', ...words], { commands: [...commands, own] });
  };
  const failing: Command['run'] = async () => {
    throw new BkeError('BKE_CLUSTER_UNKNOWN', 'there is no cluster', { hint: "'bke cluster list' shows them." });
  };
  expect((await run([], failing)).stderr).toBe(
    "error[BKE_CLUSTER_UNKNOWN]: there is no cluster\nhint: 'bke cluster list -n b --kubeconfig m.conf' shows them.\nsee: bke explain BKE_CLUSTER_UNKNOWN\n",
  );
  expect((await run(['-o', 'json'], failing)).stderr).toContain(
    `"hint":"'bke cluster list -n b --kubeconfig m.conf' shows them."`,
  );
  const empty = "There are none. 'bke cluster create -f cluster.yaml' makes one.";
  const { stderr } = await run([], async (context) => {
    context.note("'bke host list' tells more.");
    return { kind: 'list', items: [], columns: [], empty };
  });
  expect(stderr).toBe(
    "'bke host list -n b --kubeconfig m.conf' tells more.\nThere are none. 'bke cluster create -f cluster.yaml --kubeconfig m.conf' makes one.\n",
  );
});

it('names the kubeconfig of this host in whatever people are told of a cluster in it', async () => {
  const command: Command = {
    path: ['try'],
    group: 'clusters',
    summary: 'x',
    examples: [],
    output: ['table', 'json'],
    run: async (context) => {
      context.looksIn('/k.conf');
      context.note('see: kubectl -n bke get pods');
      const message = '(kubectl -n bke get machines)';
      return { kind: 'object', value: { message }, text: `${message}\n` };
    },
  };
  const [people, programs] = [
    await runCli(['try'], { commands: [command] }),
    await runCli(['try', '-o', 'json'], { commands: [command] }),
  ];
  expect(people.stdout).toBe('(kubectl --kubeconfig /k.conf -n bke get machines)\n');
  expect(people.stderr).toBe('see: kubectl --kubeconfig /k.conf -n bke get pods\n');
  expect(programs.stdout).toContain('(kubectl -n bke get machines)');
});

it('repeats a command that is to be confirmed as it was typed, before --', () => {
  expect(sameCommand(['reset', '--mount', '--data-dir', '/a b', '--no-input'], '--yes')).toBe(
    "bke reset --mount --data-dir '/a b' --no-input --yes",
  );
  expect(sameCommand(['host', 'exec', '-f', 'c.yaml', '--', 'rm', '-r', 'x y'], '--yes')).toBe(
    "bke host exec -f c.yaml --yes -- rm -r 'x y'",
  );
});

describe('a namespace', () => {
  const takers = commands.filter(({ options = [] }) => options.some(({ name }) => name === 'namespace'));

  it.each(takers.map((command): [string, Command] => [command.path.join(' '), command]))(
    'is refused by %s where none can be called so',
    async (name, { path, args = [] }) => {
      for (const wrong of ['b/../x', '..', 'Bke', '-b-', 'a.b', 'a'.repeat(64)]) {
        const { code, stderr } = await runCli([...path, ...args.map(() => 'prod'), `--namespace=${wrong}`]);
        expect(stderr).toBe(
          `error[BKE_USAGE]: option '--namespace' takes a name of at most 63 letters a-z, digits and '-' between them, not '${wrong}'\nhint: 'bke help ${name}' tells what each option takes.\nsee: bke explain BKE_USAGE\n`,
        );
        expect(code).toBe(2);
      }
    },
  );
});
