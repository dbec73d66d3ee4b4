// Who watches an operation is told when the management cluster does not answer, watches on when it does again, and is told how where it does not.
import { expect, it } from 'vitest';
import type { CommandContext } from '../../../src/commands/context.ts';
import { follow } from '../../../src/commands/operation/follow.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { BkeError } from '../../../src/lib/errors.ts';

const at = '2026-11-30T10:00:00.000Z';
const id = '20261130-100000-cluster-create-ab12';
const followed = { namespace: 'bke', name: id, where: ' --kubeconfig m.kubeconfig' };

function operation(resourceVersion: string, events: readonly object[]) {
  const metadata = { namespace: 'bke', name: id, uid: 'u', resourceVersion };
  return { apiVersion: 'bke.io/v1alpha1', kind: 'BKEOperation', metadata, status: { events } };
}

const started = {
  seq: 1,
  at,
  type: 'operation.started',
  data: { action: 'cluster.create', target: 'cluster prod', hosts: [], phases: [] },
};
const finished = {
  seq: 2,
  at,
  type: 'operation.finished',
  data: { outcome: 'done', changed: true, hosts: [], next: [], durationMs: 1 },
};

/** Answers once, is away until `backAfter` lists have failed, and has the end of the operation then. */
function site(backAfter: number): Pick<KubeClient, 'list' | 'watch'> {
  let lists = 0;
  return {
    list: async () => {
      lists += 1;
      if (lists > 1 && lists <= backAfter + 1) throw new BkeError('BKE_KUBE_FAILED', 'etcdserver: no leader');
      const version = String(lists);
      const events = lists === 1 ? [started] : [started, finished];
      return { items: [operation(version, events)], resourceVersion: version };
    },
    watch: async function* () {
      yield* [];
      throw new BkeError('BKE_KUBE_FAILED', 'etcdserver: no leader');
    },
  };
}

function watcher(signal = new AbortController().signal) {
  const notes: string[] = [];
  const onStop: string[] = [];
  const context: Pick<CommandContext, 'events' | 'note' | 'onStop' | 'signal'> = {
    events: () => {},
    note: (line) => void notes.push(line),
    onStop: (words) => void onStop.push(words),
    signal,
  };
  // oxlint-disable-next-line no-unsafe-type-assertion -- what is asked of it is there
  return { notes, onStop, context: context as CommandContext };
}

it('says so when nobody answers, and goes on when somebody does', async () => {
  const { notes, context } = watcher();
  await follow(context, site(2), followed, { toldMs: 1, mostMs: 60_000 });
  expect(notes[0]).toBe(
    'warning: the management cluster does not answer (etcdserver: no leader); the operation goes on when it is back, and is watched on',
  );
}, 20_000);

it('gives up in the end, and names the command that watches again', async () => {
  const { context } = watcher();
  const watching = follow(context, site(1000), followed, { toldMs: 1, mostMs: 400 });
  await expect(watching).rejects.toMatchObject({
    code: 'BKE_KUBE_UNREACHABLE',
    message: expect.stringContaining('etcdserver: no leader'),
    hint: expect.stringContaining(`'bke operation attach ${id} --kubeconfig m.kubeconfig'`),
  });
}, 20_000);

it('who stops watching is told what goes on and how to see it again, and no line before that', async () => {
  const { onStop, context } = watcher(AbortSignal.abort('SIGINT'));
  await expect(follow(context, site(1000), followed)).rejects.toMatchObject({
    code: 'BKE_DETACHED',
    message: `no longer watching; the operation ${id} goes on`,
    details: [
      `watch it again:  bke operation attach ${id} --kubeconfig m.kubeconfig`,
      `stop it:         bke operation cancel ${id} --kubeconfig m.kubeconfig`,
    ],
  });
  expect(onStop).toEqual(['']);
});
