// Operations of clusters against a real API server: the controller with the rights of its account, and people with their commands.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bkeOperationController } from '../../../../src/controllers/bkeoperation/controller.ts';
import { kinds } from '../../../../src/controllers/bkeoperation/world.ts';
import type { KubeClient, KubeObject, ObjectKey } from '../../../../src/kube/client.ts';
import { fieldAt, textAt } from '../../../../src/kube/fields.ts';
import { runCli } from '../../../fakes/cli.ts';
import { startApiServer, type TestApiServer } from '../../kube/api-server.ts';
import { until } from '../controller-process.ts';
import { installOwn } from '../management.ts';
import { testManager } from '../test-manager.ts';

const namespace = 'bke';
const cluster = { ...kinds.cluster, namespace, name: 'prod' };
const stop = new AbortController();
let folder: string;
let server: TestApiServer;
let own: KubeClient;
let running: Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-operations-'));
  server = await startApiServer();
  await installOwn(server.client);
  own = await server.clientOf('bke-system', 'bke-controller-manager');
  const client = own;
  const manager = testManager(client, (context) => [bkeOperationController(client, context)]);
  running = manager.run(stop.signal);
});
afterAll(async () => {
  stop.abort();
  await running;
  own?.close();
  await server?.stop();
  await rm(folder, { recursive: true });
});

const bke = (...words: string[]) =>
  runCli([...words, '--kubeconfig', server.kubeconfig], { operationsDirectory: folder });

async function operations(): Promise<readonly KubeObject[]> {
  return (await server.client.list(kinds.operation, { namespace })).items;
}

async function setStatus(key: ObjectKey, status: object): Promise<void> {
  await server.client.patch(key, { status }, { type: 'merge', fieldManager: 'test', subresource: 'status' });
}

async function phaseOf(name: string): Promise<string | undefined> {
  return textAt(await server.client.get({ ...kinds.operation, namespace, name }), 'status', 'phase');
}

async function makeCluster(): Promise<void> {
  const labels = { 'cluster.x-k8s.io/cluster-name': 'prod' };
  const metadata = { namespace, name: 'prod', labels };
  const ref = (apiGroup: string, kind: string) => ({ apiGroup, kind, name: 'prod' });
  await server.client.create({
    ...kinds.host,
    metadata: { namespace, name: 'cp1', labels: { 'bke.io/cluster': 'prod', 'bke.io/pool': 'control-plane' } },
    spec: { address: '10.0.0.11', roles: ['control-plane'] },
  });
  await server.client.create({ ...kinds.bkeCluster, metadata, spec: { cni: 'flannel' } });
  await server.client.create({
    ...kinds.cluster,
    metadata,
    spec: {
      infrastructureRef: ref('infrastructure.cluster.x-k8s.io', 'BKECluster'),
      controlPlaneRef: ref('controlplane.cluster.x-k8s.io', 'KubeadmControlPlane'),
    },
  });
}

it('opens an operation for a cluster made with kubectl, shows it, and stops it by pausing the cluster', async () => {
  await makeCluster();
  await until('an operation is opened', 40_000, async () => (await operations()).length === 1);
  const [opened] = await operations();
  const id = opened?.metadata.name ?? '';
  await until('it is carried out', 10_000, async () => (await phaseOf(id)) === 'Running');
  expect((await bke('operation', 'list')).stdout).toMatch(
    new RegExp(`^${id} +cluster.create +cluster prod +running`, 'm'),
  );
  expect((await bke('operation', 'show', id)).stdout).toContain('cluster.create of cluster prod');
  expect((await bke('cluster', 'list')).stdout).toMatch(/^prod +\S+ +0\/1 +0\/0/m);
  expect((await bke('cluster', 'describe', 'prod')).stdout).toMatch(/^Cluster\/prod[^]*[├└]─BKECluster\/prod/m);
  expect((await bke('host', 'list')).stdout).toMatch(/^cp1 +10\.0\.0\.11 +control-plane +prod +New/m);
  const logs = await bke('cluster', 'logs', 'prod');
  expect(logs.stdout).toMatch(/operation\.started: cluster\.create of cluster prod\n/);
  const watching = bke('operation', 'attach', id, '--progress', 'plain');
  const cancelled = await bke('operation', 'cancel', id);
  expect(cancelled).toMatchObject({ code: 0 });
  const watched = await watching;
  expect(watched.code).toBe(130);
  expect(watched.stderr).toContain('cluster create of cluster prod');
  expect(watched.stderr).toContain('interrupted[BKE_CANCELLED]');
  expect(fieldAt(await server.client.get(cluster), 'spec', 'paused')).toBe(true);
  expect((await bke('operation', 'cancel', id)).stderr).toContain('Nothing to do');
}, 120_000);

it('lets the cluster go on with the next operation, and refuses one beside it', async () => {
  const made = (name: string): KubeObject => ({
    ...kinds.operation,
    metadata: { namespace, name },
    spec: { action: 'create', target: { kind: 'Cluster', name: 'prod' } },
  });
  await server.client.create(made('20991130-100000-cluster-create-0001'));
  await until('it runs', 10_000, async () => (await phaseOf('20991130-100000-cluster-create-0001')) === 'Running');
  expect(fieldAt(await server.client.get(cluster), 'spec', 'paused')).toBeUndefined();
  await server.client.create(made('20991130-100000-cluster-create-0002'));
  const second = await bke('operation', 'attach', '20991130-100000-cluster-create-0002');
  expect(second.code).toBe(7);
  expect(second.stderr).toContain('bke operation attach 20991130-100000-cluster-create-0001');
  await setStatus(cluster, { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } });
  expect(await phaseOf('20991130-100000-cluster-create-0001')).toBe('Running');
}, 60_000);

it('gives the kubeconfig of a cluster to its owner alone, and writes over nothing', async () => {
  const none = await bke('cluster', 'kubeconfig', 'prod');
  expect(none).toMatchObject({ code: 3, stdout: '' });
  expect(none.stderr).toContain('has no kubeconfig yet');
  const text = 'apiVersion: v1\nkind: Config\n';
  await server.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'prod-kubeconfig' },
    data: { value: Buffer.from(text).toString('base64') },
  });
  expect((await bke('cluster', 'kubeconfig', 'prod')).stdout).toBe(text);
  const file = join(folder, 'prod.kubeconfig');
  expect((await bke('cluster', 'kubeconfig', 'prod', '--to', file)).code).toBe(0);
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([text, 0o600]);
  expect((await bke('cluster', 'kubeconfig', 'prod', '--to', file)).code).toBe(2);
  expect((await bke('cluster', 'kubeconfig', 'prod', '--to', file, '--overwrite')).code).toBe(0);
  const unknown = await bke('cluster', 'describe', 'prd');
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain("Did you mean 'prod'?");
}, 60_000);
