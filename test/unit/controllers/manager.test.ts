// Controllers under a lease: begun when it is held, ended when it is lost, and never twice at once.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { Controller } from '../../../src/controllers/controller.ts';
import { createManager, type Manager } from '../../../src/controllers/manager.ts';
import { createMetrics } from '../../../src/controllers/metrics.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { statusError } from '../../../src/kube/status-error.ts';
import { LeaseApi } from '../../fakes/lease-api.ts';
import { silentLog } from '../../fakes/log.ts';

let stop: AbortController;
afterEach(() => stop.abort());

const never = (): never => {
  throw new Error('not asked for here');
};

/** A cluster that knows leases only. */
class LeaseCluster extends LeaseApi {
  readonly all: KubeClient = {
    ...this.client,
    get: never,
    create: never,
    list: never,
    apply: never,
    patch: never,
    delete: never,
    watch: never,
    close: () => undefined,
  };
}

interface Started {
  readonly manager: Manager;
  readonly done: Promise<void>;
  readonly metrics: ReturnType<typeof createMetrics>;
}

function start(cluster: LeaseCluster, controllers: readonly Controller[]): Started {
  stop = new AbortController();
  const metrics = createMetrics();
  const manager = createManager({
    client: cluster.all,
    controllers,
    lease: {
      namespace: 'bke-system',
      name: 'lease',
      identity: 'me',
      timing: { durationMs: 1000, renewDeadlineMs: 700, requestTimeoutMs: 200, retryMs: 10 },
    },
    metrics,
    log: silentLog,
    workGraceMs: 50,
  });
  return { manager, done: manager.run(stop.signal), metrics };
}

function controller(reconcile: Controller['reconcile']): Controller {
  return { name: 'test', concurrency: 1, watch: (_informers, enqueue) => enqueue('key'), reconcile };
}

it('waits for the lease, reconciles while it holds it, and gives it back at the end', async () => {
  const cluster = new LeaseCluster();
  cluster.put('other');
  const reconcile = vi.fn(async () => ({}));
  const { manager, done, metrics } = start(cluster, [controller(reconcile)]);
  await pause(100);
  expect(reconcile).not.toHaveBeenCalled();
  expect(manager.whyNotReady()).toBeUndefined();
  cluster.put('');
  await vi.waitFor(() => expect(reconcile).toHaveBeenCalledOnce());
  expect((await metrics.render()).text).toContain('bke_controller_leader 1\n');
  stop.abort();
  await done;
  expect(cluster.holder).toBe('');
  expect((await metrics.render()).text).toContain('bke_controller_leader 0\n');
});

it('tells what is reconciled under which lease: one that another had before is of a later generation', async () => {
  const cluster = new LeaseCluster();
  cluster.put('', 4);
  const generations: number[] = [];
  const reconcile: Controller['reconcile'] = async (_key, { leaseGeneration }) => {
    generations.push(leaseGeneration);
    return {};
  };
  const { done } = start(cluster, [controller(reconcile)]);
  await vi.waitFor(() => expect(generations).toEqual([6]));
  stop.abort();
  await done;
});

it('tries again what failed, and counts it', async () => {
  const reconcile = vi.fn(async () => {
    if (reconcile.mock.calls.length < 3) throw new Error('not yet');
    return {};
  });
  const { done, metrics } = start(new LeaseCluster(), [controller(reconcile)]);
  await vi.waitFor(() => expect(reconcile).toHaveBeenCalledTimes(3), 5000);
  stop.abort();
  await done;
  const { text } = await metrics.render();
  expect(text).toContain('bke_controller_reconcile_total{controller="test",outcome="error"} 2\n');
  expect(text).toContain('bke_controller_reconcile_total{controller="test",outcome="success"} 1\n');
});

it('ends its work when another one has the lease, and waits for it again', async () => {
  const cluster = new LeaseCluster();
  const signals: AbortSignal[] = [];
  const reconcile: Controller['reconcile'] = async (_key, { signal }) => {
    signals.push(signal);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return {};
  };
  const { done } = start(cluster, [controller(reconcile)]);
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  cluster.put('other');
  await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), 3000);
  await pause(100);
  expect(cluster.holder).toBe('other');
  expect(signals).toHaveLength(1);
  cluster.put('');
  await vi.waitFor(() => expect(signals).toHaveLength(2), 3000);
  stop.abort();
  await done;
});

it('fails where work begun under a lost lease does not end: the process must end with it', async () => {
  const cluster = new LeaseCluster();
  const reconcile = vi.fn(() => new Promise<never>(() => undefined));
  const { done } = start(cluster, [controller(reconcile)]);
  const ended = expect(done).rejects.toMatchObject({
    code: 'BKE_KUBE_CONFLICT',
    message: expect.stringContaining('test key'),
  });
  await vi.waitFor(() => expect(reconcile).toHaveBeenCalled());
  cluster.put('other');
  await ended;
});

it('keeps the lease where work does not end when the process does', async () => {
  const cluster = new LeaseCluster();
  const reconcile = vi.fn(() => new Promise<never>(() => undefined));
  const { done } = start(cluster, [controller(reconcile)]);
  await vi.waitFor(() => expect(reconcile).toHaveBeenCalled());
  stop.abort();
  await done;
  expect(cluster.holder).toBe('me');
});

it('tells of each kind that is watched whether it is in step, and how old the last word of it is', async () => {
  const cluster = new LeaseCluster();
  stop = new AbortController();
  const metrics = createMetrics();
  const watching: Controller = {
    name: 'test',
    concurrency: 1,
    watch: (informers) => {
      informers.watch({ apiVersion: 'v1', kind: 'Secret', namespace: 'bke' }, () => undefined);
      informers.watch({ apiVersion: 'v1', kind: 'Node' }, () => undefined);
    },
    reconcile: async () => ({}),
  };
  const quiet = async function* (signal: AbortSignal): AsyncGenerator<never> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield* [];
  };
  const list: KubeClient['list'] = async ({ kind }) => {
    if (kind === 'Node') throw statusError({ what: 'list nodes', status: 403, body: '{"message":"may not"}' });
    return { items: [], resourceVersion: '1' };
  };
  const manager = createManager({
    client: { ...cluster.all, list, watch: (_kind, { signal }) => quiet(signal) },
    controllers: [watching],
    lease: { namespace: 'bke-system', name: 'lease', identity: 'me' },
    metrics,
    log: silentLog,
  });
  expect(manager.watches()).toEqual([]);
  const done = manager.run(stop.signal);
  await vi.waitFor(() => expect(manager.watches().join('\n')).toContain('may not'));
  expect(manager.watches()).toEqual([
    'Secret in bke: synced, 0 objects, last event 0 s ago',
    'Node: not synced, 0 objects, nothing heard yet: list nodes: may not',
  ]);
  const { text } = await metrics.render();
  expect(text).toContain('bke_watch_synced{source="Secret in bke"} 1\n');
  expect(text).toContain('bke_watch_synced{source="Node"} 0\n');
  expect(text).toMatch(/bke_watch_last_event_age_seconds\{source="Secret in bke"\} 0/);
  stop.abort();
  await done;
  expect(manager.watches()).toEqual([]);
});
