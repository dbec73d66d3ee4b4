// Who watches an operation is told when the management cluster does not answer, watches on when it does again, and is told how where it does not.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { CommandContext } from '../../../src/commands/context.ts';
import { follow, type FollowClient } from '../../../src/commands/operation/follow.ts';
import { AtWork } from '../../../src/commands/operation/at-work.ts';
import { Held } from '../../../src/commands/operation/held.ts';
import type { KubeObject } from '../../../src/kube/client.ts';
import { BkeError } from '../../../src/lib/errors.ts';

const at = '2026-11-30T10:00:00.000Z';
const id = '20261130-100000-cluster-create-ab12';
const followed = { namespace: 'bke', name: id };

function operation(resourceVersion: string, events: readonly object[]) {
  const metadata = { namespace: 'bke', name: id, uid: 'u', resourceVersion };
  const spec = { action: 'create', target: { kind: 'Cluster', name: 'prod' } };
  return { apiVersion: 'bke.io/v1alpha1', kind: 'BKEOperation', metadata, spec, status: { events } };
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
function site(backAfter: number): FollowClient {
  let lists = 0;
  return {
    get: async () => undefined,
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
    hint: `When it does, 'bke operation attach ${id}' shows how the operation gets on.`,
  });
}, 20_000);

it('who stops watching is told what goes on and how to see it again, and no line before that', async () => {
  const { onStop, context } = watcher(AbortSignal.abort('SIGINT'));
  await expect(follow(context, site(1000), followed)).rejects.toMatchObject({
    code: 'BKE_DETACHED',
    message: `no longer watching; the operation ${id} goes on`,
    details: [`watch it again:  bke operation attach ${id}`, `stop it:         bke operation cancel ${id}`],
  });
  expect(onStop).toEqual(['']);
});

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** What is there, then nothing: somebody deletes it. */
function deleted(events: readonly object[]): FollowClient {
  return {
    get: async () => undefined,
    list: async () => ({ items: [operation('1', events)], resourceVersion: '1' }),
    watch: async function* (_kind, { signal }) {
      yield { type: 'DELETED', object: operation('2', events) };
      await aborted(signal);
    },
  };
}

it('says of an operation that somebody has deleted that it is not there, and where to look', async () => {
  const { context } = watcher();
  await expect(follow(context, deleted([started]), followed)).rejects.toMatchObject({
    code: 'BKE_OPERATION_UNKNOWN',
    message: `the operation ${id} is not there any more: somebody has deleted it`,
    hint: "'bke operation list' shows those that are there, 'bke cluster describe prod' what became of the cluster.",
  });
}, 20_000);

const pausedCluster: KubeObject = {
  apiVersion: 'x/v1',
  kind: 'Cluster',
  metadata: { namespace: 'bke', name: 'prod', annotations: { 'cluster.x-k8s.io/paused': 'true' } },
};

it('says of a paused cluster that it is, and does not wait for it without end', async () => {
  const { notes, context } = watcher();
  const client: FollowClient = {
    get: async () => pausedCluster,
    list: async () => ({ items: [operation('1', [])], resourceVersion: '1' }),
    watch: async function* (_kind, { signal }) {
      yield { type: 'BOOKMARK', resourceVersion: '1' };
      await aborted(signal);
    },
  };
  await expect(follow(context, client, followed, { toldMs: 1, mostMs: 300 })).rejects.toMatchObject({
    code: 'BKE_CLUSTER_PAUSED',
  });
  expect(notes).toEqual([
    'warning: cluster prod is paused: nothing goes on before that is lifted',
    '  Cluster prod has the annotation cluster.x-k8s.io/paused',
    '  lift it: kubectl -n bke annotate cluster prod cluster.x-k8s.io/paused-',
  ]);
}, 20_000);

it('takes no pause for lifted because nobody answers, asks for one thing at a time, and tells when it is lifted', async () => {
  const { notes, context } = watcher();
  const answers: (KubeObject | BkeError)[] = [
    pausedCluster,
    new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers'),
    { ...pausedCluster, metadata: { namespace: 'bke', name: 'prod' } },
  ];
  let asked = 0;
  const slow: Pick<FollowClient, 'get'> = {
    get: async () => {
      asked += 1;
      await sleep(20);
      const answer = answers.shift();
      if (answer instanceof BkeError) throw answer;
      return answer;
    },
  };
  const held = new Held(context, slow, { mostMs: 60_000, everyMs: 0 });
  const look = async (): Promise<string | undefined> => {
    held.look(operation('1', []));
    held.look(operation('1', []));
    await sleep(50);
    // Without an operation nothing is asked.
    return held.look(undefined)?.code;
  };
  expect(await look()).toBe('BKE_CLUSTER_PAUSED');
  expect(await look()).toBe('BKE_CLUSTER_PAUSED');
  expect(notes).not.toContain('The cluster is not paused any more.');
  expect(await look()).toBeUndefined();
  expect(notes.at(-1)).toBe('The cluster is not paused any more.');
  expect(asked).toBe(3);
});

it('says when no controller is at work, why, and when one is again', async () => {
  const { notes, context } = watcher();
  let renewTime = '2026-11-30T10:00:00.000000Z';
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'bke-controller-manager' } };
  const state = { waiting: { reason: 'CrashLoopBackOff' } };
  const lastState = { terminated: { exitCode: 137, reason: 'Error' } };
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'bke-controller-manager-abc', namespace: 'bke-system' },
    status: { phase: 'Running', containerStatuses: [{ name: 'manager', ready: false, state, lastState }] },
  };
  const other: KubeObject = { ...pod, metadata: { name: 'somebody-else', namespace: 'bke-system' } };
  const client: Pick<FollowClient, 'get' | 'list'> = {
    get: async () => ({ ...lease, spec: { renewTime } }),
    list: async () => ({ items: [pod, other], resourceVersion: '1' }),
  };
  const atWork = new AtWork(context, client, { toldMs: 200, mostMs: 1000, everyMs: 0 });
  const lookUntil = async (done: () => boolean): Promise<void> => {
    while (!done()) {
      atWork.look(id);
      await sleep(10);
    }
  };
  atWork.look(id);
  expect(notes).toEqual([]);
  await lookUntil(() => notes.length === 2);
  const why = 'pod bke-controller-manager-abc: container manager: CrashLoopBackOff, last exit code 137';
  expect(atWork.trouble).toBe(why);
  expect(notes).toEqual([
    expect.stringMatching(/^warning: no controller of bke has been at work for \S+ \(pod bke-controller-manager-abc: /),
    '  see: kubectl -n bke-system get pods',
  ]);
  expect(notes[0]).toContain(`(${why}); nothing goes on until one is, and what is shown is from before`);
  renewTime = '2026-11-30T10:01:00.000000Z';
  await lookUntil(() => notes.length === 3);
  expect(notes[2]).toBe('A controller of bke is at work again.');
  await expect(lookUntil(() => false)).rejects.toMatchObject({
    code: 'BKE_TIMEOUT',
    message: expect.stringContaining(why),
    hint: expect.stringContaining(`'bke operation attach ${id}'`),
  });
}, 20_000);
