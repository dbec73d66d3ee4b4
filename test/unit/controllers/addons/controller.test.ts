// The network and add-ons of a cluster: when they come, and what is told of them.
import { beforeEach, expect, it } from 'vitest';
import { addonsController } from '../../../../src/controllers/addons/controller.ts';
import { findManifest } from '../../../../src/controllers/addons/manifests.ts';
import { plannedAddons } from '../../../../src/controllers/addons/plan.ts';
import type { Controller } from '../../../../src/controllers/controller.ts';
import type { ObjectEvent } from '../../../../src/controllers/event-recorder.ts';
import { createMetrics } from '../../../../src/controllers/metrics.ts';
import { conditionOf } from '../../../../src/kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../../../src/kube/fields.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { bkeClusterObject, catalogue, clusterObject, machineObjects, putSite } from '../../../fakes/fleet.ts';
import { fakeInformers } from '../../../fakes/informers.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { reconcileScope } from '../../../fakes/scope.ts';

const key = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'BKECluster',
  namespace: 'bke',
  name: 'prod',
};
const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-flannel', name: 'kube-flannel-ds' };
const endpoint = { host: '10.0.0.11', port: 6443 };
const flannel = `
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg, namespace: kube-flannel}
data: {net-conf.json: '{"Network": "10.244.0.0/16"}'}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-flannel-ds, namespace: kube-flannel}
spec: {template: {spec: {containers: [{name: kube-flannel, image: flannel, args: [--ip-masq]}]}}}
`;
const metrics = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: metrics-server, namespace: kube-system}\n';

let management: FakeCluster;
let workload: FakeCluster;
let controller: Controller;
let told: string[];
let addonManifest: string;

beforeEach(() => {
  management = new FakeCluster();
  workload = new FakeCluster();
  told = [];
  addonManifest = metrics;
  putSite(management);
  management.put(
    clusterObject(),
    bkeClusterObject({ cni: 'flannel', controlPlaneEndpoint: endpoint, addons: [{ name: 'metrics-server' }] }),
  );
  const events = { record: async ({ reason, message }: ObjectEvent) => void told.push(`${reason} ${message}`) };
  const now = (): Date => new Date('2026-11-30T10:00:00Z');
  const context = { events, metrics: createMetrics(), now, namespace: undefined };
  controller = addonsController(management, context, {
    workloads: { clientOf: async () => workload.client(), forget: ({ name }) => void told.push(`forget ${name}`) },
    manifests: { text: async ({ name }) => (name === 'flannel' ? flannel : addonManifest) },
  });
  controller.watch(fakeInformers(management), () => undefined);
});

async function reconcile(): Promise<number | undefined> {
  return (await controller.reconcile('bke/prod', reconcileScope())).requeueAfterMs;
}

/** The host of the first control plane says that it is a node; Cluster API does not know yet. */
function putFirstNode(): void {
  const [, bkeMachine] = machineObjects('m1', true);
  management.put({ ...bkeMachine, metadata: { ...bkeMachine.metadata, annotations: { 'bke.io/bootstrapped': 'c1' } } });
}

async function phases(): Promise<string[]> {
  const addons = listAt(await management.get(key), 'status', 'addons');
  return addons.map((addon) => `${textAt(addon, 'name')} ${textAt(addon, 'version')} ${textAt(addon, 'phase')}`);
}

it('closes the way into a cluster that is gone', async () => {
  await management.delete(key);
  await reconcile();
  expect(told).toEqual(['forget prod']);
});

it('applies nothing before there is a control plane', async () => {
  await reconcile();
  expect(workload.writes).toEqual([]);
});

it('applies the network as soon as the first host is a node, fitted to the cluster, and then the add-ons', async () => {
  putFirstNode();
  await reconcile();
  const config = await workload.get({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'kube-flannel',
    name: 'kube-flannel-cfg',
  });
  expect(textAt(config, 'data', 'net-conf.json')).toContain('10.250.0.0/16');
  expect(JSON.stringify(await workload.get(daemonSet))).toContain('"value":"10.0.0.11"');
  expect(await phases()).toEqual(['flannel v0.27.4 Applied', 'metrics-server v0.8.0 Ready']);
  expect(conditionOf(await management.get(key), 'AddonsReady')?.status).toBe('Unknown');
  expect(told).toContain('AddonApplied flannel v0.27.4 was applied');
  await workload.patch(daemonSet, {
    status: { observedGeneration: 1, desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 },
  });
  expect(await reconcile()).toBeGreaterThan(60_000);
  expect(await phases()).toEqual(['flannel v0.27.4 Ready', 'metrics-server v0.8.0 Ready']);
  const writes = management.writes.length + workload.writes.length;
  await reconcile();
  expect(management.writes.length + workload.writes.length).toBe(writes);
});

it('calls an add-on ready when what it brought runs, and says till then why it does not', async () => {
  putFirstNode();
  addonManifest = `${metrics}---
apiVersion: apps/v1
kind: Deployment
metadata: {name: metrics-server, namespace: metrics, generation: 1}
spec: {replicas: 1, selector: {matchLabels: {app: metrics}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
`;
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'metrics', name: 'metrics-server' };
  const addon = async (): Promise<unknown> => listAt(await management.get(key), 'status', 'addons')[1];
  await reconcile();
  const namespaces = ['kube-system', 'metrics'];
  const told = { name: 'metrics-server', version: 'v0.8.0', namespaces };
  const unseen = 'Deployment metrics/metrics-server: its controller has not taken it up yet';
  expect(await addon()).toEqual({ ...told, phase: 'Applied', message: unseen });
  await workload.patch(deployment, { status: { observedGeneration: 1 } });
  await reconcile();
  const why = 'Deployment metrics/metrics-server: 0 of 1 ready';
  expect(await addon()).toEqual({ ...told, phase: 'Applied', message: why });
  expect(conditionOf(await management.get(key), 'AddonsReady')?.message).toContain(`metrics-server: ${why}`);
  await workload.patch(deployment, { status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 } });
  await reconcile();
  expect(await addon()).toEqual({ ...told, phase: 'Ready' });
});

it('keeps telling that an add-on is ready while nobody who could say otherwise answers', async () => {
  putFirstNode();
  management.put(
    bkeClusterObject({ cni: 'none', controlPlaneEndpoint: endpoint, addons: [{ name: 'metrics-server' }] }),
  );
  await reconcile();
  const before = listAt(await management.get(key), 'status', 'addons');
  expect(textAt(before[0], 'phase')).toBe('Ready');
  const aside = async (): Promise<never> => {
    throw new BkeError('BKE_DOWNLOAD_FAILED', 'the file repository does not answer');
  };
  expect(await controller.reconcile('bke/prod', { ...reconcileScope(), aside })).toEqual({ requeueAfterMs: 10_000 });
  expect(listAt(await management.get(key), 'status', 'addons')).toEqual(before);
  const addons = [{ name: 'metrics-server', version: 'v0.9.0' }];
  await management.patch(key, { spec: { addons } });
  await reconcile();
  expect(await phases()).toEqual(['metrics-server undefined Failed']);
});

it('tells what no release has, and what it can not install', async () => {
  const addons = [{ name: 'unknown-addon' }, { name: 'my-app', chart: 'my-app' }];
  management.put(bkeClusterObject({ cni: 'none', controlPlaneEndpoint: endpoint, addons }));
  putFirstNode();
  await reconcile();
  const errors = listAt(await management.get(key), 'status', 'addons').map((addon) => fieldAt(addon, 'error', 'code'));
  expect(errors).toEqual(['BKE_ARTIFACT_MISSING', 'BKE_ARTIFACT_UNUSABLE']);
  expect(conditionOf(await management.get(key), 'AddonsReady')?.reason).toBe('AddonFailed');
});

it('asks the cluster and the file repository aside only, where nobody waits for them', async () => {
  putFirstNode();
  workload.failure = new Error('asked in a place of the controller');
  const aside = async (): Promise<never> => {
    throw new BkeError('BKE_KUBE_UNREACHABLE', 'the cluster bke/prod has not answered since 2026-11-30T10:00:00Z: x');
  };
  expect(await controller.reconcile('bke/prod', { ...reconcileScope(), aside })).toEqual({ requeueAfterMs: 10_000 });
  expect(conditionOf(await management.get(key), 'AddonsReady')).toMatchObject({
    reason: 'AddonFailed',
    message: 'flannel: BKE_KUBE_UNREACHABLE: the cluster bke/prod has not answered since 2026-11-30T10:00:00Z: x',
  });
});

it('gives nothing to a cluster that is paused or goes', async () => {
  putFirstNode();
  management.put(
    clusterObject({ metadata: { ...clusterObject().metadata, deletionTimestamp: '2026-11-30T10:00:00Z' } }),
  );
  await reconcile();
  expect(workload.writes).toEqual([]);
});

it('plans the network first, once', () => {
  const of = (spec: object): string[] =>
    plannedAddons(bkeClusterObject(spec)).map(({ name, kind }) => `${kind} ${name}`);
  expect(of({ cni: 'flannel', addons: [{ name: 'a' }, { name: 'flannel' }] })).toEqual([
    'network flannel',
    'manifest a',
  ]);
  expect(of({ cni: 'none', addons: [{ name: 'flannel' }] })).toEqual(['manifest flannel']);
});

it('finds manifests by name and version, and nothing else', () => {
  expect(findManifest([catalogue], { name: 'flannel' })?.version).toBe('v0.27.4');
  expect(findManifest([catalogue], { name: 'flannel', version: 'v0.1.0' })).toBeUndefined();
  expect(findManifest([catalogue], { name: 'kubelet' })).toBeUndefined();
});
