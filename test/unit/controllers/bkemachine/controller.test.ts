// A machine from its first reconcile until its host is free again, with the agent's part played by the test.
import { beforeEach, describe, expect, it } from 'vitest';
import { bkeMachineController } from '../../../../src/controllers/bkemachine/controller.ts';
import { viewOf } from '../../../../src/controllers/bkehost/host.ts';
import { newCommandID } from '../../../../src/controllers/host-command/command-id.ts';
import { prepareOrder } from '../../../../src/controllers/host-command/prepare.ts';
import type { Controller } from '../../../../src/controllers/controller.ts';
import type { ObjectEvent } from '../../../../src/controllers/event-recorder.ts';
import { createMetrics } from '../../../../src/controllers/metrics.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { conditionOf } from '../../../../src/kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../../../src/kube/fields.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { prepareStep } from '../../../../src/tasks/registry.ts';
import {
  bkeClusterObject,
  catalogue,
  clusterObject,
  endCommand,
  machineObjects,
  putHost,
  putSite,
  site,
  version,
} from '../../../fakes/fleet.ts';
import { fakeInformers } from '../../../fakes/informers.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { reconcileScope } from '../../../fakes/scope.ts';

const namespace = 'bke';
const bke = { apiVersion: 'bke.io/v1alpha1', namespace };
const machineKey = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'BKEMachine',
  namespace,
  name: 'm1',
};
const coreMachineKey = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', namespace, name: 'm1' };
const inboxKey = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'inbox-w1' };
const provisioned = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };

let cluster: FakeCluster;
let controller: Controller;
let applied: KubeObject[];
let told: string[];
/** Kind of objects that a policy lets nobody change. */
let refused: string | undefined;

beforeEach(() => {
  refused = undefined;
  cluster = new FakeCluster();
  applied = [];
  told = [];
  putSite(cluster);
  putHost(cluster, 'w1', '10.0.0.21', 'worker');
  cluster.put(
    clusterObject({ status: provisioned }),
    bkeClusterObject({ cni: 'flannel' }),
    ...machineObjects('m1', false),
  );
  const client: Parameters<typeof bkeMachineController>[0] = {
    get: (key) => cluster.get(key),
    patch: async (key, patch) => {
      if (key.kind === refused) throw new BkeError('BKE_KUBE_REFUSED', 'the policy "frozen" denied the request');
      return cluster.patch(key, patch);
    },
    apply: async (object, options) => {
      applied.push(object);
      return cluster.apply(object, options);
    },
  };
  const events = { record: async ({ reason }: ObjectEvent) => void told.push(reason) };
  const now = (): Date => new Date('2026-11-30T10:00:00Z');
  controller = bkeMachineController(client, { events, metrics: createMetrics(), now, namespace: undefined });
  controller.watch(fakeInformers(cluster), () => undefined);
});

async function reconcile(): Promise<number | undefined> {
  return (await controller.reconcile('bke/m1', reconcileScope(3))).requeueAfterMs;
}

const host = (): Promise<KubeObject | undefined> => cluster.get({ ...bke, kind: 'BKEHost', name: 'w1' });
const command = (): Promise<KubeObject | undefined> => cluster.get({ ...bke, kind: 'HostCommand', name: 'w1' });
const machine = (): Promise<KubeObject | undefined> => cluster.get(machineKey);

async function ready(): Promise<string> {
  const { status, reason } = conditionOf(await machine(), 'Ready') ?? { status: '', reason: '' };
  return `${status} ${reason}`;
}

/** Until its host is a node. */
async function provision(): Promise<void> {
  await reconcile();
  await endCommand(cluster, 'w1', 'Done');
  await cluster.patch(coreMachineKey, { spec: { bootstrap: { dataSecretName: 'm1-data' } } });
  const value = Buffer.from('#cloud-config\n').toString('base64');
  cluster.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'm1-data' }, data: { value } });
  await reconcile();
}

async function remove(): Promise<void> {
  await cluster.patch(machineKey, { metadata: { deletionTimestamp: '2026-11-30T10:00:00Z' } });
  await reconcile();
}

describe('a machine that comes', () => {
  it('claims a host at once, and gives it a command that its agent understands', async () => {
    await reconcile();
    const claimID = textAt(await host(), 'spec', 'claimID');
    expect(fieldAt(await host(), 'spec', 'consumerRef')).toEqual({ namespace, name: 'm1' });
    expect(fieldAt(await machine(), 'spec')).toEqual({
      providerID: `bke://bke/w1/${claimID}`,
      hostRef: { name: 'w1' },
    });
    const steps = listAt(await command(), 'spec', 'steps');
    expect(steps.map((step) => textAt(step, 'task'))).toEqual([
      'environment-check',
      'node/environment',
      'node/container-runtime',
      'node/kubernetes',
      'node/images',
    ]);
    expect(fieldAt(await command(), 'spec', 'leaseGeneration')).toBe(3);
    for (const step of steps) await prepareStep(textAt(step, 'task') ?? '', fieldAt(step, 'parameters'));
    expect(fieldAt(steps[3], 'parameters', 'providerID')).toBe(`bke://bke/w1/${claimID}`);
    expect(await ready()).toBe('False Preparing');
  });

  it('names the operation that its commands are part of', async () => {
    const spec = { action: 'create', target: { kind: 'Cluster', name: 'prod' } };
    const operation = (name: string, phase: string): KubeObject => ({
      apiVersion: 'bke.io/v1alpha1',
      kind: 'BKEOperation',
      metadata: { namespace, name },
      spec,
      status: { phase },
    });
    cluster.put(operation('before', 'Done'), operation('now', 'Running'));
    await reconcile();
    expect(fieldAt(await command(), 'spec', 'operationRef')).toEqual({ name: 'now' });
  });

  it('writes no other command while one runs, and none twice', async () => {
    await reconcile();
    const first = textAt(await command(), 'spec', 'commandID');
    await reconcile();
    await endCommand(cluster, 'w1', 'Running');
    await reconcile();
    expect(textAt(await command(), 'spec', 'commandID')).toBe(first);
  });

  it('tells a host that was prepared ahead only which node it is, also while that is under way', async () => {
    const found = await host();
    const order = prepareOrder({
      host: { name: 'w1', spec: viewOf(found ?? clusterObject()).spec },
      arch: 'amd64',
      version,
      controlPlane: false,
      bkeCluster: bkeClusterObject({ cni: 'flannel' }),
      site,
      catalogues: [catalogue],
    });
    if ('missing' in order) throw new Error(order.missing.join());
    const spec = { commandID: newCommandID(order, 1), leaseGeneration: 1, steps: order.steps };
    await cluster.patch({ ...bke, kind: 'HostCommand', name: 'w1' }, { spec });
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    const steps = listAt(await command(), 'spec', 'steps');
    expect(steps.map((step) => textAt(step, 'task'))).toEqual(['node/kubernetes']);
    expect(textAt(steps[0], 'parameters', 'providerID')).toMatch(/^bke:/);
    await endCommand(cluster, 'w1', 'Running');
    await reconcile();
    expect(await ready()).toBe('False Preparing');
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    expect(await ready()).toBe('False WaitingForBootstrapData');
    await reconcile();
    expect(await ready()).toBe('False WaitingForBootstrapData');
  });

  it('waits for bootstrap data, and hands it over by the inbox only', async () => {
    await reconcile();
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    expect(await ready()).toBe('False WaitingForBootstrapData');
    await provision();
    expect(textAt(await cluster.get(inboxKey), 'data', 'value')).toBe(
      Buffer.from('#cloud-config\n').toString('base64'),
    );
    const [step] = listAt(await command(), 'spec', 'steps');
    expect(textAt(step, 'task')).toBe('bootstrap-data');
    await prepareStep('bootstrap-data', fieldAt(step, 'parameters'));
    expect(JSON.stringify(await command())).not.toContain('cloud-config');
    expect(fieldAt(step, 'parameters', 'metadata')).toMatchObject({ hostname: 'w1', address: '10.0.0.21' });
  });

  it('has its inbox again where somebody deleted it: before the command, while the agent waits, and after that failed', async () => {
    const data = { value: Buffer.from('#cloud-config\n').toString('base64') };
    await cluster.delete(inboxKey);
    await provision();
    const made = await cluster.get(inboxKey);
    expect(made?.metadata).toMatchObject({ namespace, name: 'inbox-w1', labels: { 'bke.io/host': 'w1' } });
    expect(fieldAt(made, 'data')).toEqual(data);
    await endCommand(cluster, 'w1', 'Running');
    await cluster.delete(inboxKey);
    expect(await reconcile()).toBe(10_020);
    expect(fieldAt(await cluster.get(inboxKey), 'data')).toEqual(data);
    await cluster.delete(inboxKey);
    await endCommand(cluster, 'w1', 'Failed');
    await reconcile();
    expect(fieldAt(await cluster.get(inboxKey), 'data')).toEqual(data);
  });

  it.each(['Running', 'Done'] as const)(
    'stays with the data it has begun with where Cluster API makes it anew, also when the step is %s',
    async (state) => {
      await provision();
      const before = textAt(await command(), 'spec', 'commandID');
      await endCommand(cluster, 'w1', state);
      const value = Buffer.from('#cloud-config\n# another token\n').toString('base64');
      cluster.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'm1-data' }, data: { value } });
      await reconcile();
      expect(textAt(await cluster.get(inboxKey), 'data', 'value')).not.toBe(value);
      await endCommand(cluster, 'w1', 'Done');
      await reconcile();
      expect(textAt(await command(), 'spec', 'commandID')).toBe(before);
      expect(await ready()).toBe('True Ready');
    },
  );

  it('takes the new data where the step failed with the former', async () => {
    await provision();
    const before = textAt(await command(), 'spec', 'commandID');
    await endCommand(cluster, 'w1', 'Failed');
    const value = Buffer.from('#cloud-config\n# another token\n').toString('base64');
    cluster.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'm1-data' }, data: { value } });
    await reconcile();
    expect(textAt(await cluster.get(inboxKey), 'data', 'value')).toBe(value);
    expect(textAt(await command(), 'spec', 'commandID')).not.toBe(before);
  });

  it('makes no inbox for a host that has become a node', async () => {
    await provision();
    await endCommand(cluster, 'w1', 'Done');
    await cluster.delete(inboxKey);
    await reconcile();
    expect(await ready()).toBe('True Ready');
    expect(await cluster.get(inboxKey)).toBeUndefined();
  });

  it('is not prepared again once it is made a node, whatever settings say by then', async () => {
    await provision();
    const before = textAt(await command(), 'spec', 'commandID');
    cluster.put(bkeClusterObject({ cni: 'flannel', settings: { kubelet: { maxPods: 50 } } }));
    await reconcile();
    expect(textAt(await command(), 'spec', 'commandID')).toBe(before);
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    expect(await ready()).toBe('True Ready');
  });

  it('is provisioned when the agent says so: the inbox is empty then', async () => {
    await provision();
    expect(await ready()).toBe('False Bootstrapping');
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    expect(fieldAt(await machine(), 'status', 'initialization', 'provisioned')).toBe(true);
    expect(listAt(await machine(), 'status', 'addresses')).toEqual([
      { type: 'Hostname', address: 'w1' },
      { type: 'InternalIP', address: '10.0.0.21' },
    ]);
    expect(fieldAt(await cluster.get(inboxKey), 'data')).toBeUndefined();
    expect(await ready()).toBe('True Ready');
    const writes = cluster.writes.length;
    await reconcile();
    expect(cluster.writes.length).toBe(writes);
  });

  it('has its status again after a move, which drops it, and does nothing to the host', async () => {
    await provision();
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    const before = textAt(await command(), 'spec', 'commandID');
    await cluster.patch(machineKey, { status: null });
    await reconcile();
    expect(fieldAt(await machine(), 'status', 'initialization', 'provisioned')).toBe(true);
    expect(textAt(await command(), 'spec', 'commandID')).toBe(before);
  });

  it('tells host, step, code and hint of what failed', async () => {
    await reconcile();
    await endCommand(cluster, 'w1', 'Failed');
    await reconcile();
    const { reason, message } = conditionOf(await machine(), 'Prepared') ?? { reason: '', message: '' };
    expect(reason).toBe('PrepareFailed');
    expect(message).toBe('w1, step check: BKE_PULL_FAILED: no such image\nLoad it.');
    expect(told).toContain('PrepareFailed');
  });

  it('names what no release has', async () => {
    await cluster.patch(coreMachineKey, { spec: { version: 'v1.37.0' } });
    await reconcile();
    const { reason, message } = conditionOf(await machine(), 'Prepared') ?? { reason: '', message: '' };
    expect(reason).toBe('ArtifactsMissing');
    expect(message).toContain('program kubelet v1.37.0');
    expect(version).toBe('v1.36.3');
  });

  it('never has a host that a label keeps for another cluster, and says so', async () => {
    await cluster.patch(
      { ...bke, kind: 'BKEHost', name: 'w1' },
      { metadata: { labels: { 'bke.io/cluster': 'other' } } },
    );
    await reconcile();
    expect(conditionOf(await machine(), 'HostClaimed')).toMatchObject({
      reason: 'NoHostAvailable',
      message: 'no host is free:\nw1: its label bke.io/cluster keeps it for the cluster other',
    });
    expect(fieldAt(await host(), 'spec', 'consumerRef')).toBeUndefined();
  });

  it('says of each host why it is not free', async () => {
    await cluster.patch({ ...bke, kind: 'BKEHost', name: 'w1' }, { spec: { cleanUpPending: true } });
    await reconcile();
    expect(conditionOf(await machine(), 'HostClaimed')).toMatchObject({
      reason: 'NoHostAvailable',
      message: 'no host is free:\nw1: not proven to be clean',
    });
  });
});

describe('a machine that goes', () => {
  it('keeps its host until the agent has confirmed that it is clean and the Machine is gone', async () => {
    await provision();
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    await remove();
    expect(fieldAt(await host(), 'spec', 'cleanUpPending')).toBe(true);
    const [step] = listAt(await command(), 'spec', 'steps');
    await prepareStep(textAt(step, 'task') ?? '', fieldAt(step, 'parameters'));
    expect(textAt(step, 'task')).toBe('reset');
    expect(await ready()).toBe('False CleaningUp');
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    expect(applied.at(-1)?.metadata.finalizers).toBeUndefined();
    expect(fieldAt(await host(), 'spec', 'cleanUpPending')).toBeUndefined();
    expect(fieldAt(await host(), 'spec', 'consumerRef')).toBeDefined();
    await cluster.delete(machineKey);
    await reconcile();
    expect(fieldAt(await host(), 'spec', 'consumerRef')).toBeDefined();
    await cluster.delete(coreMachineKey);
    await reconcile();
    expect(fieldAt(await host(), 'spec', 'consumerRef')).toBeUndefined();
    expect(fieldAt(await host(), 'spec', 'claimID')).toBeUndefined();
  });

  it('has a command that still runs ended first', async () => {
    await reconcile();
    const before = textAt(await command(), 'spec', 'commandID');
    await remove();
    expect(fieldAt(await command(), 'spec', 'cancelRequested')).toBe(true);
    expect(textAt(await command(), 'spec', 'commandID')).toBe(before);
    await endCommand(cluster, 'w1', 'Done');
    await reconcile();
    expect(textAt(await command(), 'spec', 'commandID')).toMatch(/^reset-/);
    expect(fieldAt(await command(), 'spec', 'cancelRequested')).toBeUndefined();
  });

  it('is held by a clean-up that failed; only a person lets it go, and the host into quarantine', async () => {
    await reconcile();
    await endCommand(cluster, 'w1', 'Done');
    await remove();
    await endCommand(cluster, 'w1', 'Failed');
    await reconcile();
    expect(await ready()).toBe('False CleanUpFailed');
    await cluster.patch(machineKey, { metadata: { annotations: { 'bke.io/force-release': 'true' } } });
    await reconcile();
    expect(fieldAt(await host(), 'spec', 'consumerRef')).toBeUndefined();
    expect(textAt(await host(), 'spec', 'quarantine', 'reason')).toContain('without being cleaned');
    expect(applied.at(-1)?.metadata.finalizers).toBeUndefined();
  });

  it('leaves nothing to a host that is let go by force: no keys, and no command to become a node by', async () => {
    await provision();
    expect(fieldAt(await cluster.get(inboxKey), 'data')).toBeDefined();
    await cluster.patch(machineKey, { metadata: { annotations: { 'bke.io/force-release': 'true' } } });
    await remove();
    expect(textAt(await host(), 'spec', 'quarantine', 'reason')).toContain('without being cleaned');
    expect(fieldAt(await cluster.get(inboxKey), 'data')).toBeUndefined();
    expect(textAt(await command(), 'spec', 'commandID')).toMatch(/^bootstrap-/);
    expect(fieldAt(await command(), 'spec', 'cancelRequested')).toBe(true);
  });

  it('leaves a host that is let go by force its clean-up: it is done where the host comes back', async () => {
    await reconcile();
    await endCommand(cluster, 'w1', 'Done');
    await remove();
    expect(textAt(await command(), 'spec', 'commandID')).toMatch(/^reset-/);
    await cluster.patch(machineKey, { metadata: { annotations: { 'bke.io/force-release': 'true' } } });
    await reconcile();
    expect(fieldAt(await host(), 'spec', 'quarantine')).toBeDefined();
    expect(fieldAt(await command(), 'spec', 'cancelRequested')).toBeUndefined();
  });

  it('says so where a policy lets nobody write what a clean-up needs, and goes on when it does', async () => {
    await reconcile();
    await endCommand(cluster, 'w1', 'Done');
    refused = 'BKEHost';
    await remove();
    expect(conditionOf(await machine(), 'Ready')).toMatchObject({
      reason: 'CleanUpFailed',
      message: expect.stringContaining('w1: BKE_KUBE_REFUSED: the policy "frozen" denied the request'),
    });
    refused = undefined;
    await reconcile();
    expect(await ready()).toBe('False CleaningUp');
  });

  it('leaves a host as it is where its object vanished and nobody had cleaned it', async () => {
    await provision();
    await cluster.delete(machineKey);
    await cluster.delete(coreMachineKey);
    const before = await host();
    await reconcile();
    expect(await host()).toEqual(before);
    expect(told).toContain('ClaimOrphaned');
  });
});
