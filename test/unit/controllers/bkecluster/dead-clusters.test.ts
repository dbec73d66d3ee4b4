// Many clusters whose API servers take questions and never answer: the others are looked after as if those were not there.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { bkeClusterController } from '../../../../src/controllers/bkecluster/controller.ts';
import { createMetrics } from '../../../../src/controllers/metrics.ts';
import { patientClient } from '../../../../src/controllers/silence.ts';
import { Worker } from '../../../../src/controllers/worker.ts';
import type { KubeClient, KubeObject } from '../../../../src/kube/client.ts';
import { conditionOf } from '../../../../src/kube/conditions.ts';
import { fieldAt, textAt } from '../../../../src/kube/fields.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { fakeInformers } from '../../../fakes/informers.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { silentLog } from '../../../fakes/log.ts';

const namespace = 'bke';
const core = 'cluster.x-k8s.io/v1beta2';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const now = (): Date => new Date('2026-11-30T10:00:00Z');

let worker: Worker | undefined;

afterEach(async () => {
  await worker?.stop(100);
});

/** A cluster of one control plane that has joined. */
function clusterNamed(name: string): KubeObject[] {
  const labels = { 'cluster.x-k8s.io/cluster-name': name };
  const ofControlPlane = { ...labels, 'cluster.x-k8s.io/control-plane': '' };
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BKECluster', name };
  const annotations = { 'bke.io/provisioned': 'true', 'bke.io/installed': 'true' };
  const controlPlaneEndpoint = { host: '10.0.0.11', port: 6443 };
  return [
    { apiVersion: core, kind: 'Cluster', metadata: { namespace, name, labels }, spec: { infrastructureRef } },
    {
      apiVersion: infrastructure,
      kind: 'BKECluster',
      metadata: {
        namespace,
        name,
        labels,
        annotations,
        finalizers: ['bkecluster.infrastructure.cluster.x-k8s.io'],
        uid: name,
      },
      spec: { cni: 'none', controlPlaneEndpoint },
    },
    {
      apiVersion: core,
      kind: 'Machine',
      metadata: { namespace, name, labels: ofControlPlane },
      status: { nodeRef: { name } },
    },
  ];
}

interface Site {
  readonly management: FakeCluster;
  readonly enqueue: (name: string) => void;
  /** The questions to dead clusters that wait for an answer. */
  readonly hanging: Set<(error: Error) => void>;
}

function site(names: readonly string[]): Site {
  const management = new FakeCluster();
  for (const name of names) management.put(...clusterNamed(name));
  const living = new FakeCluster();
  const ready = { conditions: [{ type: 'Ready', status: 'True', reason: '', message: '' }] };
  living.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: ready });
  const hanging = new Set<(error: Error) => void>();
  const never = (): Promise<never> => {
    const { promise, reject } = Promise.withResolvers<never>();
    hanging.add(reject);
    return promise;
  };
  const clients = new Map<string, KubeClient>();
  for (const name of names) {
    const client = name.startsWith('dead') ? { ...living.client(), list: never } : living.client();
    clients.set(name, patientClient(client, { cluster: `the cluster bke/${name}`, now }));
  }
  const workloads = { clientOf: async ({ name }: { name: string }) => clients.get(name), forget: () => undefined };
  const metrics = createMetrics();
  const events = { record: async (): Promise<void> => undefined };
  const controller = bkeClusterController(management, { events, metrics, now, namespace: undefined }, workloads);
  let enqueue: (key: string) => void = () => undefined;
  worker = new Worker({
    controller: {
      ...controller,
      watch: (informers, add) => {
        enqueue = add;
        controller.watch(informers, add);
      },
    },
    informers: fakeInformers(management),
    metrics,
    log: silentLog,
    leaseGeneration: 1,
  });
  worker.start();
  return { management, hanging, enqueue: (name) => enqueue(`${namespace}/${name}`) };
}

const bkeCluster = (management: FakeCluster, name: string): Promise<KubeObject | undefined> =>
  management.get({ apiVersion: infrastructure, kind: 'BKECluster', namespace, name });

async function stateOf(management: FakeCluster, name: string): Promise<string | undefined> {
  return textAt(await bkeCluster(management, name), 'status', 'state', 'name');
}

const dead = Array.from({ length: 40 }, (_, index) => `dead${index}`);

it('looks after the others at once while forty clusters hang, and says of each since when and why', async () => {
  const { management, hanging, enqueue } = site([...dead, 'living']);
  for (const name of dead) enqueue(name);
  await expect.poll(() => hanging.size, { timeout: 5000 }).toBe(dead.length);
  const began = performance.now();
  enqueue('living');
  await expect.poll(() => stateOf(management, 'living'), { interval: 5, timeout: 5000 }).toBe('Healthy');
  expect(performance.now() - began).toBeLessThan(1000);
  expect(await stateOf(management, 'dead0')).toBeUndefined();

  const fault = new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers: no answer within 10 s');
  for (const reject of hanging) reject(fault);
  hanging.clear();
  await expect.poll(() => stateOf(management, 'dead39'), { interval: 5, timeout: 5000 }).toBe('Abnormal');
  const message =
    'the cluster bke/dead39 has not answered since 2026-11-30T10:00:00Z: no API server answers: no answer within 10 s';
  const said = await bkeCluster(management, 'dead39');
  expect(conditionOf(said, 'Healthy')).toMatchObject({ status: 'False', reason: 'Unreachable', message });
  expect(fieldAt(said, 'status', 'state')).toMatchObject({ name: 'Abnormal', reason: 'Unreachable', message });
  // Within the pause nobody asks again, and nothing new is said.
  const writes = management.writes.length;
  for (const name of dead) enqueue(name);
  enqueue('living');
  await pause(100);
  expect(hanging.size).toBe(0);
  expect(management.writes.length).toBe(writes);
});

it('ends with its process although a cluster hangs', async () => {
  const { hanging, enqueue } = site(['dead0']);
  enqueue('dead0');
  await expect.poll(() => hanging.size, { timeout: 5000 }).toBe(1);
  expect(await worker?.stop(1000)).toEqual([]);
});
