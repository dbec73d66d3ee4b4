// Operations as their controller carries them out: one at a time, opened where nobody did, stopped by pausing the cluster.
import { expect, it } from 'vitest';
import { bkeOperationController, type OperationClient } from '../../../../src/controllers/bkeoperation/controller.ts';
import { kinds } from '../../../../src/controllers/bkeoperation/world.ts';
import type { ControllerContext } from '../../../../src/controllers/controller.ts';
import { createMetrics } from '../../../../src/controllers/metrics.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { fieldAt, listAt, textAt } from '../../../../src/kube/fields.ts';
import { fakeInformers } from '../../../fakes/informers.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { reconcileScope } from '../../../fakes/scope.ts';

const namespace = 'bke';
const clusterKey = { ...kinds.cluster, namespace, name: 'prod' };

function bench() {
  const site = new FakeCluster();
  let now = Date.parse('2026-11-30T10:00:00Z');
  const told: string[] = [];
  /** What was applied to the spec of the cluster. */
  const pauses: unknown[] = [];
  const context: ControllerContext = {
    events: { record: async ({ reason }) => void told.push(reason) },
    metrics: createMetrics(),
    now: () => new Date(now),
    namespace: undefined,
  };
  const client: OperationClient = {
    get: (key) => site.get(key),
    apply: (object, options) => {
      if (object.kind === 'Cluster') pauses.push(object['spec']);
      return site.apply(object, options);
    },
    delete: (key) => site.delete(key),
    create: async (object) => {
      site.put(object);
      return object;
    },
  };
  const controller = bkeOperationController(client, context);
  controller.watch(fakeInformers(site), () => undefined);
  return {
    site,
    told,
    pauses,
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    reconcile: () => controller.reconcile('bke/prod', reconcileScope()),
    operations: () => site.objects(kinds.operation),
  };
}

function cluster(more: { spec?: object; metadata?: object } = {}): KubeObject {
  const metadata = { namespace, name: 'prod', uid: 'u-1', creationTimestamp: '2026-11-30T10:00:00Z', ...more.metadata };
  return { ...kinds.cluster, metadata, spec: { infrastructureRef: { name: 'prod' }, ...more.spec } };
}
const bkeCluster: KubeObject = { ...kinds.bkeCluster, metadata: { namespace, name: 'prod' }, spec: { cni: 'flannel' } };
const operation = (name: string, created: string, spec: object = {}): KubeObject => ({
  ...kinds.operation,
  metadata: { namespace, name, creationTimestamp: created },
  spec: { action: 'create', target: { kind: 'Cluster', name: 'prod' }, ...spec },
});
const phaseOf = (object: KubeObject | undefined): string | undefined => textAt(object, 'status', 'phase');

it('opens an operation for a cluster that somebody made without one, once, and not at once', async () => {
  const { site, told, pass, reconcile, operations } = bench();
  site.put(cluster(), bkeCluster);
  const former = {
    ...operation('op-0', '2026-11-29T10:00:00Z'),
    status: { phase: 'Done', finished: '2026-11-29T10:09:00Z' },
  };
  expect(await reconcile()).toEqual({ requeueAfterMs: 15_000 });
  expect(operations()).toEqual([]);
  pass(16);
  await reconcile();
  const [opened] = operations();
  expect(opened?.metadata.name).toMatch(/^20261130-100000-cluster-create-[0-9a-f]{4}$/);
  expect(opened?.['spec']).toEqual({ action: 'create', target: { kind: 'Cluster', name: 'prod' } });
  expect(told).toEqual(['OperationOpened']);
  await reconcile();
  expect(operations()).toHaveLength(1);
  expect(phaseOf(operations()[0])).toBe('Running');
  // One of a cluster of the same name, that was before this one, says nothing about it.
  const again = bench();
  again.site.put(cluster(), bkeCluster, former);
  again.pass(16);
  await again.reconcile();
  expect(again.operations()).toHaveLength(2);
});

it('opens none for a paused cluster, as clusterctl makes it where it moves one to, before it goes on', async () => {
  const { site, pass, reconcile, operations } = bench();
  site.put(cluster({ spec: { paused: true } }), bkeCluster);
  pass(60);
  expect(await reconcile()).toEqual({});
  expect(operations()).toEqual([]);
  await site.patch(clusterKey, { spec: { paused: false } });
  await reconcile();
  expect(operations()).toHaveLength(1);
});

it('opens none for a cluster that has hosts already, as after a move', async () => {
  const { site, pass, reconcile, operations } = bench();
  const labels = { 'cluster.x-k8s.io/cluster-name': 'prod' };
  const machine = {
    ...kinds.bkeMachine,
    metadata: { namespace, name: 'm-1', labels },
    spec: { providerID: 'bke://bke/cp1/1' },
  };
  const host = {
    ...kinds.host,
    metadata: { namespace, name: 'cp1' },
    spec: { consumerRef: { namespace, name: 'm-1' } },
  };
  site.put(cluster(), bkeCluster, machine, host);
  pass(60);
  expect(await reconcile()).toEqual({});
  expect(operations()).toEqual([]);
});

it('carries out the first operation and refuses a second one by naming it', async () => {
  const { site, reconcile, operations } = bench();
  site.put(cluster(), bkeCluster, operation('op-1', '2026-11-30T10:00:00Z'), operation('op-2', '2026-11-30T10:00:01Z'));
  await reconcile();
  const [first, second] = operations();
  expect(phaseOf(first)).toBe('Running');
  expect(phaseOf(second)).toBe('Failed');
  expect(fieldAt(second, 'status', 'error')).toMatchObject({
    code: 'BKE_OPERATION_CONFLICT',
    message: 'op-1 (create) of prod is running',
    hint: expect.stringContaining('bke operation attach op-1'),
  });
  expect(listAt(second, 'status', 'events').map((event) => textAt(event, 'type'))).toEqual([
    'operation.started',
    'operation.finished',
  ]);
});

it('tells nothing twice, and writes nothing where nothing is new', async () => {
  const { site, pass, reconcile, operations } = bench();
  site.put(cluster(), bkeCluster, operation('op-1', '2026-11-30T10:00:00Z'));
  await reconcile();
  pass(5);
  await reconcile();
  const before = operations()[0];
  const writes = site.writes.length;
  pass(5);
  await reconcile();
  expect(site.writes).toHaveLength(writes);
  expect(operations()[0]).toEqual(before);
});

it('stops by pausing the cluster, when no agent is at work for it any more, and lets it go on with the next one', async () => {
  const { site, pauses, pass, reconcile, operations } = bench();
  const labels = { 'bke.io/cluster': 'prod', 'bke.io/pool': 'workers' };
  const host = { ...kinds.host, metadata: { namespace, name: 'w1', labels }, spec: {} };
  const command = (state: string): KubeObject => ({
    ...kinds.command,
    metadata: { namespace, name: 'w1' },
    spec: { commandID: 'prepare-1', steps: [{ id: 'a', task: 'node/images' }] },
    status: { commandID: 'prepare-1', steps: [{ id: 'a', state }] },
  });
  site.put(cluster(), bkeCluster, host, command('Running'), operation('op-1', '2026-11-30T10:00:00Z'));
  await reconcile();
  await site.patch({ ...kinds.operation, namespace, name: 'op-1' }, { spec: { cancelRequested: true } });
  await reconcile();
  expect(fieldAt(await site.get(clusterKey), 'spec', 'paused')).toBe(true);
  expect(phaseOf(operations()[0])).toBe('Running');
  site.put(command('Done'));
  pass(5);
  await reconcile();
  expect(phaseOf(operations()[0])).toBe('Cancelled');
  site.put(operation('op-2', '2026-11-30T10:10:00Z'));
  await reconcile();
  expect(phaseOf(operations()[1])).toBe('Running');
  // An apply without the field: who owned it gives it up, and a pause of somebody else stays.
  expect(pauses).toEqual([{ paused: true }, {}]);
});

it('says of a cluster that somebody has paused that it waits for that', async () => {
  const { site, pass, reconcile, operations } = bench();
  site.put(cluster({ spec: { paused: true } }), bkeCluster, operation('op-1', '2026-11-30T10:00:00Z'));
  await reconcile();
  pass(5);
  await reconcile();
  const waits = listAt(operations()[0], 'status', 'events').filter((event) => textAt(event, 'type') === 'step.waiting');
  expect(waits.map((event) => textAt(event, 'data', 'cause'))).toEqual([
    'the Cluster is paused (spec.paused): nothing goes on before somebody lets it',
  ]);
});

it('ends with a cluster that is deleted, and says since when', async () => {
  const { site, reconcile, operations } = bench();
  site.put(
    cluster({ metadata: { deletionTimestamp: '2026-11-30T10:00:00Z' } }),
    bkeCluster,
    operation('op-1', '2026-11-30T10:00:00Z'),
  );
  await reconcile();
  expect(operations()[0]?.['status']).toMatchObject({
    phase: 'Failed',
    error: {
      code: 'BKE_CLUSTER_DELETING',
      message: 'Cluster prod is being deleted since 2026-11-30T10:00:00Z',
      hint: "'bke cluster describe prod' shows what of it is still there, and why. Make it anew when 'bke cluster list' does not show it any more.",
    },
  });
});

it('ends with a cluster that is gone before anybody saw that it was deleted', async () => {
  const { site, pass, reconcile, operations } = bench();
  const labels = { 'bke.io/cluster': 'prod', 'bke.io/pool': 'workers' };
  const host = { ...kinds.host, metadata: { namespace, name: 'w1', labels }, spec: {} };
  site.put(bkeCluster, host, operation('op-1', '2026-11-30T10:00:00Z'));
  await reconcile();
  // It may not be written yet.
  expect(phaseOf(operations()[0])).toBe('Running');
  const ofCluster = { 'cluster.x-k8s.io/cluster-name': 'prod' };
  site.put(cluster(), {
    ...kinds.deployment,
    metadata: { namespace, name: 'prod-workers', labels: ofCluster },
    spec: {},
  });
  pass(5);
  await reconcile();
  await site.delete(clusterKey);
  pass(5);
  await reconcile();
  expect(operations()[0]?.['status']).toMatchObject({
    phase: 'Failed',
    error: {
      code: 'BKE_CLUSTER_DELETING',
      message: 'Cluster prod was deleted while it was being made',
      hint: "'bke host list' shows which of its hosts are free again. The same command makes it anew.",
    },
  });
});

it('ends operations that nothing carries out, which would hold up every other one', async () => {
  const { site, reconcile, operations } = bench();
  const upgrade = operation('op-1', '2026-11-30T10:00:00Z', { action: 'upgrade' });
  site.put(cluster(), bkeCluster, upgrade, operation('op-2', '2026-11-30T10:00:01Z'));
  await reconcile();
  expect(operations().map(phaseOf)).toEqual(['Failed', 'Running']);
  expect(operations()[0]?.['status']).toMatchObject({ error: { code: 'BKE_SETTING_UNSUPPORTED' } });
});
