// Everything is deleted at once, or the namespace, or what a deletion would need: it ends, or a condition names what is missing and the way out.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentObjects } from '../../../src/api/agent-config.ts';
import { agentAccess } from '../../../src/cluster/agent-access.ts';
import { siteObject } from '../../../src/cluster/site.ts';
import { bkeClusterController } from '../../../src/controllers/bkecluster/controller.ts';
import { bkeHostController } from '../../../src/controllers/bkehost/controller.ts';
import { bkeMachineController } from '../../../src/controllers/bkemachine/controller.ts';
import { createEventRecorder } from '../../../src/controllers/event-recorder.ts';
import { createManager } from '../../../src/controllers/manager.ts';
import { createMetrics } from '../../../src/controllers/metrics.ts';
import type { KubeClient, KubeObject, ObjectKey } from '../../../src/kube/client.ts';
import { conditionOf } from '../../../src/kube/conditions.ts';
import { fieldAt, textAt } from '../../../src/kube/fields.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { clustersNamespaceObjects } from '../../../src/tasks/cluster-api/clusters-namespace.ts';
import { releaseObject } from '../../../src/tasks/cluster-api/release-object.ts';
import { catalogue, clusterObject, site } from '../../fakes/fleet.ts';
import { silentLog } from '../../fakes/log.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';
import { until } from './controller-process.ts';
import { installOwn } from './management.ts';

const bke = 'bke.io/v1alpha1';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const core = 'cluster.x-k8s.io/v1beta2';
const stop = new AbortController();
let server: TestApiServer;
let own: KubeClient;
let running: Promise<void>;

beforeAll(async () => {
  server = await startApiServer({ controllerManager: true });
  await installOwn(server.client);
  await server.client.create(siteObject(site));
  await server.client.create(releaseObject(catalogue));
  own = await server.clientOf('bke-system', 'bke-controller-manager');
  const now = (): Date => new Date();
  const metrics = createMetrics();
  const events = createEventRecorder({ client: own, namespace: 'bke-system', instance: 'test', now, log: silentLog });
  const context = { events, metrics, now, namespace: undefined };
  // A host that is off: nobody answers.
  const connect = async (): Promise<never> => {
    throw new BkeError('BKE_SSH_UNREACHABLE', 'no answer from 192.0.2.21 port 22');
  };
  const manager = createManager({
    client: own,
    controllers: [
      bkeMachineController(own, context),
      bkeClusterController(own, context),
      bkeHostController(own, context, { connect, version: '0.1.0', own: undefined, firstPauseMs: 200 }),
    ],
    lease: { namespace: 'bke-system', name: 'bke-controller-manager', identity: 'test' },
    metrics,
    log: silentLog,
  });
  running = manager.run(stop.signal);
}, 120_000);

afterAll(async () => {
  stop.abort();
  await running;
  own?.close();
  await server?.stop();
});

const merge = { type: 'merge', fieldManager: 'test' } as const;

function keysIn(namespace: string): Record<'host' | 'machine' | 'cluster' | 'secret' | 'space', ObjectKey> {
  return {
    host: { apiVersion: bke, kind: 'BKEHost', namespace, name: 'w1' },
    machine: { apiVersion: infrastructure, kind: 'BKEMachine', namespace, name: 'm1' },
    cluster: { apiVersion: infrastructure, kind: 'BKECluster', namespace, name: 'prod' },
    secret: { apiVersion: 'v1', kind: 'Secret', namespace, name: 'w1-ssh' },
    space: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
  };
}

/** A cluster of one machine that has a host, which was enrolled and is off now. As after a move: the finalizers are somebody else's, too. */
async function makeCluster(namespace: string): Promise<void> {
  const { client } = server;
  const labels = { 'cluster.x-k8s.io/cluster-name': 'prod' };
  const finalizers = (name: string): object => ({ finalizers: [name] });
  const make = async (objects: readonly KubeObject[]): Promise<void> => {
    for (const object of objects) await client.apply(object, { fieldManager: 'test' });
  };
  await make(clustersNamespaceObjects(namespace));
  const { metadata: _metadata, ...cluster } = clusterObject();
  const spec = {
    address: '192.0.2.21',
    roles: ['worker'],
    consumerRef: { namespace, name: 'm1' },
    claimID: 'aaaaaaaaaa',
    ssh: {
      user: 'root',
      port: 22,
      hostKeys: [`SHA256:${'A'.repeat(43)}`],
      secretRef: { name: 'w1-ssh' },
      retain: true,
    },
  };
  const inbox = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: agentObjects('w1').inbox } };
  const command = { commandID: 'none-yet', leaseGeneration: 0, steps: [] };
  const ssh = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'w1-ssh', labels: { 'bke.io/secret-of': 'w1' } },
  };
  await make([
    { ...ssh, stringData: { password: 'x' } },
    inbox,
    ...agentAccess({ namespace, host: 'w1' }),
    { apiVersion: bke, kind: 'HostCommand', metadata: { namespace, name: 'w1' }, spec: command },
    { apiVersion: bke, kind: 'BKEHost', metadata: { namespace, name: 'w1', ...finalizers('bke.io/enrolled') }, spec },
    { ...cluster, metadata: { namespace, name: 'prod', labels } },
    {
      apiVersion: infrastructure,
      kind: 'BKECluster',
      metadata: { namespace, name: 'prod', labels, ...finalizers('bkecluster.infrastructure.cluster.x-k8s.io') },
      spec: { cni: 'none', controlPlaneEndpoint: { host: '192.0.2.11', port: 6443 } },
    },
    {
      apiVersion: infrastructure,
      kind: 'BKEMachine',
      metadata: { namespace, name: 'm1', labels, ...finalizers('bkemachine.infrastructure.cluster.x-k8s.io') },
      spec: { providerID: `bke://${namespace}/w1/aaaaaaaaaa`, hostRef: { name: 'w1' } },
    },
  ]);
  await until(
    'bke looks after them',
    20_000,
    async () => conditionOf(await client.get(keysIn(namespace).host), 'Available') !== undefined,
  );
}

/** Waits until the condition says all of that. */
async function says(key: ObjectKey, type: string, ...words: readonly (string | RegExp)[]): Promise<void> {
  let message = '';
  const check = async (): Promise<boolean> => {
    const found = conditionOf(await server.client.get(key), type);
    message = `${found?.reason}: ${found?.message}`;
    return words.every((word) => (typeof word === 'string' ? message.includes(word) : word.test(message)));
  };
  await until(`${key.kind} ${type}: ${words.join(', ')}`, 60_000, check).catch((thrown: unknown) => {
    throw new Error(`it says: ${message}`, { cause: thrown });
  });
}

async function isGone(key: ObjectKey): Promise<void> {
  await until(`${key.kind} ${key.name} to go`, 40_000, async () => (await server.client.get(key)) === undefined);
}

async function annotate(key: ObjectKey, annotation: string): Promise<void> {
  await server.client.patch(key, { metadata: { annotations: { [annotation]: 'true' } } }, merge);
}

it('says what holds it where everything is deleted at once and the host is off, and ends by force, with what is left where', async () => {
  const namespace = 'at-once';
  await makeCluster(namespace);
  const { host, machine, cluster, secret } = keysIn(namespace);
  const whole = { apiVersion: core, kind: 'Cluster', namespace, name: 'prod' };
  // In the order of a file, which is none: the login goes first.
  for (const key of [secret, host, cluster, machine, whole]) await server.client.delete(key);
  await says(host, 'Available', `the machine ${namespace}/m1 has it: delete that first`);
  await says(cluster, 'Ready', 'm1');
  await says(machine, 'Ready', 'w1');
  await annotate(machine, 'bke.io/force-release');
  await isGone(machine);
  // What was left is said where it was left.
  await until('quarantine', 20_000, async () => {
    const reason = textAt(await server.client.get(host), 'spec', 'quarantine', 'reason') ?? '';
    return reason.includes('without being cleaned');
  });
  await isGone(cluster);
  // The way onto the host is gone: the condition names what is missing and what to do.
  await says(host, 'Available', 'w1-ssh', 'bke reset --all');
  await annotate(host, 'bke.io/force-delete');
  await isGone(host);
  const account: ObjectKey = { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: agentObjects('w1').account };
  expect(await server.client.get(account)).toBeUndefined();
}, 180_000);

it('says so in a namespace that is deleted, where its rights went first, and lets go by force', async () => {
  const namespace = 'dying';
  await makeCluster(namespace);
  const { host, machine, cluster, space } = keysIn(namespace);
  await server.client.delete(space);
  await says(machine, 'Ready', 'BKE_KUBE_FORBIDDEN', 'namespace is being deleted', 'bke.io/force-release=true');
  await annotate(machine, 'bke.io/force-release');
  await isGone(machine);
  await isGone(cluster);
  await says(host, 'Available', 'BKE_KUBE_FORBIDDEN', 'bke reset --all on w1', 'bke.io/force-delete=true');
  await annotate(host, 'bke.io/force-delete');
  await isGone(host);
  await isGone(space);
}, 240_000);

it('lets a BKECluster go that no Cluster has, and one whose Cluster names another', async () => {
  const namespace = 'nowhere';
  const { client } = server;
  for (const object of clustersNamespaceObjects(namespace)) await client.apply(object, { fieldManager: 'test' });
  const { metadata: _metadata, ...cluster } = clusterObject();
  const nowhere = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BKECluster', name: 'nowhere' };
  const spec = { ...Object(cluster['spec']), infrastructureRef: nowhere };
  await client.create({ ...cluster, metadata: { namespace, name: 'prod' }, spec });
  const key = keysIn(namespace).cluster;
  const finalizers = ['bkecluster.infrastructure.cluster.x-k8s.io'];
  const { apiVersion, kind, name } = key;
  const object = { apiVersion, kind, metadata: { namespace, name, finalizers }, spec: { cni: 'none' } };
  await client.apply(object, { fieldManager: 'test' });
  await client.delete(key);
  await isGone(key);
  await client.delete({ apiVersion: core, kind: 'Cluster', namespace, name: 'prod' });
  expect(
    fieldAt(await client.get({ apiVersion: core, kind: 'Cluster', namespace, name: 'prod' }), 'spec'),
  ).toBeUndefined();
}, 90_000);
