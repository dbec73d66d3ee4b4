// The controllers of machines and clusters against a real API server, with the rights of their service account. The test plays agents and Cluster API.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { siteObject } from '../../../../src/cluster/site.ts';
import { bkeClusterController } from '../../../../src/controllers/bkecluster/controller.ts';
import { bkeMachineController } from '../../../../src/controllers/bkemachine/controller.ts';
import type { Manager } from '../../../../src/controllers/manager.ts';
import type { KubeClient, KubeObject, ObjectKey } from '../../../../src/kube/client.ts';
import { conditionOf } from '../../../../src/kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../../../src/kube/fields.ts';
import { releaseObject } from '../../../../src/tasks/cluster-api/release-object.ts';
import { catalogue, clusterObject, machineObjects, site, version } from '../../../fakes/fleet.ts';
import { type TestApiServer, startApiServer } from '../../kube/api-server.ts';
import { until } from '../controller-process.ts';
import { installBke, installClusterApi } from '../management.ts';
import { testManager } from '../test-manager.ts';

const namespace = 'bke';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const core = 'cluster.x-k8s.io/v1beta2';
const bke = { apiVersion: 'bke.io/v1alpha1', namespace };
const stop = new AbortController();
let server: TestApiServer;
let own: KubeClient;
let manager: Manager;
let running: Promise<void>;

beforeAll(async () => {
  server = await startApiServer();
  await installBke(server.client);
  await server.client.create(siteObject(site));
  await server.client.create(releaseObject(catalogue));
  await createHost('cp1', '10.0.0.11', 'control-plane');
  await createHost('w1', '10.0.0.21', 'worker');
  own = await server.clientOf('bke-system', 'bke-controller-manager');
  const client = own;
  manager = testManager(client, (context) => [
    bkeMachineController(client, context),
    bkeClusterController(client, context),
  ]);
  running = manager.run(stop.signal);
});

afterAll(async () => {
  stop.abort();
  await running;
  own?.close();
  await server?.stop();
});

async function createHost(name: string, address: string, role: string): Promise<void> {
  const { client } = server;
  await client.create({ ...bke, kind: 'BKEHost', metadata: { namespace, name }, spec: { address, roles: [role] } });
  const available = { type: 'Available', status: 'True', reason: 'Available', message: '' };
  await setStatus(
    { ...bke, kind: 'BKEHost', name },
    { facts: { arch: 'amd64' }, conditions: [{ ...available, lastTransitionTime: new Date().toISOString() }] },
  );
  const idle = { commandID: 'none-yet', leaseGeneration: 0, steps: [] };
  await client.create({ ...bke, kind: 'HostCommand', metadata: { namespace, name }, spec: idle });
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: `inbox-${name}` } });
}

async function setStatus(key: ObjectKey, status: object): Promise<void> {
  await server.client.patch(key, { status }, { type: 'merge', fieldManager: 'test', subresource: 'status' });
}

async function get(kind: string, name: string, apiVersion = infrastructure): Promise<KubeObject | undefined> {
  return server.client.get({ apiVersion, kind, namespace, name });
}

/** Waits for a command of that purpose that is not over, and ends it as the agent of the host would. */
async function carryOut(host: string, purpose: string): Promise<KubeObject> {
  let found: KubeObject | undefined;
  await until('a command', 20_000, async () => {
    const command = await get('HostCommand', host, bke.apiVersion);
    const commandID = textAt(command, 'spec', 'commandID') ?? '';
    found =
      commandID.startsWith(`${purpose}-`) && textAt(command, 'status', 'commandID') !== commandID ? command : undefined;
    return found !== undefined;
  });
  if (found === undefined) throw new Error('no command');
  const steps = listAt(found, 'spec', 'steps').map((step) => ({ id: textAt(step, 'id'), state: 'Done', attempt: 1 }));
  const commandID = textAt(found, 'spec', 'commandID');
  await setStatus({ ...bke, kind: 'HostCommand', name: host }, { commandID, steps });
  return found;
}

it('says which kinds are missing and how they come, and begins when they are there', async () => {
  const missing = /Machine \(.*knows no Machine of cluster\.x-k8s\.io\/v1beta2: 'bke init'/;
  await until('not in step', 20_000, async () => missing.test(manager.whyNotReady() ?? ''));
  await installClusterApi(server.client);
  await until('in step', 60_000, async () => manager.whyNotReady() === undefined);
}, 120_000);

it('makes a node of a host and gives the host back, with no more rights than its account has', async () => {
  const { client } = server;
  const template = { apiVersion: infrastructure, kind: 'BKEMachineTemplate' };
  await client.create({ ...template, metadata: { namespace, name: 'prod-cp' }, spec: { template: { spec: {} } } });
  const { apiVersion, kind } = { apiVersion: infrastructure, kind: 'BKECluster' };
  const labels = { 'cluster.x-k8s.io/cluster-name': 'prod' };
  await client.create({ apiVersion, kind, metadata: { namespace, name: 'prod', labels }, spec: { cni: 'none' } });
  const infrastructureRef = {
    apiGroup: 'infrastructure.cluster.x-k8s.io',
    kind: 'BKEMachineTemplate',
    name: 'prod-cp',
  };
  await client.create({
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmControlPlane',
    metadata: { namespace, name: 'prod-cp', labels },
    spec: { replicas: 1, version, machineTemplate: { spec: { infrastructureRef } } },
  });
  const { metadata, ...cluster } = clusterObject();
  await client.create({ ...cluster, metadata: { namespace, name: metadata.name, labels } });

  await carryOut('cp1', 'prepare');
  await until(
    'provisioned',
    20_000,
    async () => fieldAt(await get('BKECluster', 'prod'), 'status', 'initialization', 'provisioned') === true,
  );
  expect(fieldAt(await get('BKECluster', 'prod'), 'spec', 'controlPlaneEndpoint')).toEqual({
    host: '10.0.0.11',
    port: 6443,
  });
  await setStatus(
    { apiVersion: core, kind: 'Cluster', namespace, name: 'prod' },
    { initialization: { infrastructureProvisioned: true } },
  );

  const [machine, bkeMachine] = machineObjects('m1', true);
  const { uid: _uid, ...ofMachine } = machine.metadata;
  const made = await client.create({ ...machine, metadata: ofMachine });
  const ownerReferences = [{ apiVersion: core, kind: 'Machine', name: 'm1', uid: made.metadata.uid }];
  await client.create({
    ...bkeMachine,
    metadata: { namespace, name: 'm1', labels: bkeMachine.metadata.labels ?? {}, ownerReferences },
  });

  const rest = await carryOut('cp1', 'prepare');
  expect(listAt(rest, 'spec', 'steps').map((step) => textAt(step, 'task'))).toEqual(['node/kubernetes']);
  const value = Buffer.from('#cloud-config\n').toString('base64');
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'm1-data' }, data: { value } });
  const key = { apiVersion: core, kind: 'Machine', namespace, name: 'm1' };
  await client.patch(
    key,
    { spec: { bootstrap: { dataSecretName: 'm1-data' } } },
    { type: 'merge', fieldManager: 'test' },
  );
  await carryOut('cp1', 'bootstrap');
  await until(
    'a node',
    20_000,
    async () => fieldAt(await get('BKEMachine', 'm1'), 'status', 'initialization', 'provisioned') === true,
  );
  expect(fieldAt(await get('Secret', 'inbox-cp1', 'v1'), 'data')).toBeUndefined();
  expect(conditionOf(await get('BKEMachine', 'm1'), 'Ready')?.status).toBe('True');
  expect(textAt(await get('BKEMachine', 'm1'), 'spec', 'providerID')).toMatch(/^bke:\/\/bke\/cp1\/[0-9a-f]{10}$/);
  expect(textAt(await get('BKECluster', 'prod'), 'status', 'state', 'name')).toBe('Installing');

  await client.delete({ apiVersion: infrastructure, kind: 'BKEMachine', namespace, name: 'm1' });
  await until(
    'a mark of the clean-up',
    20_000,
    async () => fieldAt(await get('BKEHost', 'cp1', bke.apiVersion), 'spec', 'cleanUpPending') === true,
  );
  await carryOut('cp1', 'reset');
  await until('the machine to go', 20_000, async () => (await get('BKEMachine', 'm1')) === undefined);
  await pause(500);
  expect(fieldAt(await get('BKEHost', 'cp1', bke.apiVersion), 'spec', 'consumerRef')).toBeDefined();
  await client.delete(key);
  await until(
    'the host to be free',
    20_000,
    async () => fieldAt(await get('BKEHost', 'cp1', bke.apiVersion), 'spec', 'consumerRef') === undefined,
  );

  await client.delete({ apiVersion: infrastructure, kind: 'BKECluster', namespace, name: 'prod' });
  await until('the cluster to go', 20_000, async () => (await get('BKECluster', 'prod')) === undefined);
}, 120_000);
