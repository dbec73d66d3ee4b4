// A cluster from its first reconcile until it is healthy, and until it is gone, with agents and Cluster API played by the test.
import { beforeEach, describe, expect, it } from 'vitest';
import { bkeClusterController } from '../../../../src/controllers/bkecluster/controller.ts';
import type { Controller } from '../../../../src/controllers/controller.ts';
import type { ObjectEvent } from '../../../../src/controllers/event-recorder.ts';
import { createMetrics } from '../../../../src/controllers/metrics.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { conditionOf } from '../../../../src/kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../../../src/kube/fields.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import {
  bkeClusterObject,
  clusterObject,
  endCommand,
  machineObjects,
  putHost,
  putSite,
  version,
} from '../../../fakes/fleet.ts';
import { fakeInformers } from '../../../fakes/informers.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { reconcileScope } from '../../../fakes/scope.ts';

const namespace = 'bke';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const clusterKey = { apiVersion: infrastructure, kind: 'BKECluster', namespace, name: 'prod' };
const endpoint = { host: '10.0.0.11', port: 6443 };

let management: FakeCluster;
let workload: FakeCluster;
let controller: Controller;
let applied: KubeObject[];
let told: string[];
/** What is wrong with the kubeconfig of the cluster. */
let unusable: BkeError | undefined;

function template(name: string): KubeObject {
  return {
    apiVersion: infrastructure,
    kind: 'BKEMachineTemplate',
    metadata: { namespace, name },
    spec: { template: { spec: {} } },
  };
}

function templateRef(name: string): object {
  return { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BKEMachineTemplate', name } };
}

function controlPlane(replicas: number): KubeObject {
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmControlPlane',
    metadata: { namespace, name: 'prod-cp' },
    spec: { replicas, version, machineTemplate: { spec: templateRef('prod-cp') } },
  };
}

beforeEach(() => {
  management = new FakeCluster();
  workload = new FakeCluster();
  applied = [];
  told = [];
  unusable = undefined;
  putSite(management);
  putHost(management, 'cp1', '10.0.0.11', 'control-plane');
  putHost(management, 'cp0', '10.0.0.10', 'control-plane');
  putHost(management, 'w1', '10.0.0.21', 'worker');
  const deployment = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { namespace, name: 'prod-w', labels: { 'cluster.x-k8s.io/cluster-name': 'prod' } },
    spec: { replicas: 1, template: { spec: { version, ...templateRef('prod-w') } } },
  };
  management.put(clusterObject(), controlPlane(1), template('prod-cp'), template('prod-w'), deployment);
  management.put(bkeClusterObject({ cni: 'flannel', controlPlaneEndpoint: endpoint }));
  const client: Parameters<typeof bkeClusterController>[0] = {
    get: (key) => management.get(key),
    list: (kind, options) => management.list(kind, options),
    patch: (key, patch) => management.patch(key, patch),
    delete: (key) => management.delete(key),
    apply: async (object, options) => {
      applied.push(object);
      return management.apply(object, options);
    },
  };
  const events = { record: async ({ reason, message }: ObjectEvent) => void told.push(`${reason} ${message}`) };
  const now = (): Date => new Date('2026-11-30T10:00:00Z');
  const context = { events, metrics: createMetrics(), now, namespace: undefined };
  controller = bkeClusterController(client, context, {
    clientOf: async () => {
      if (unusable !== undefined) throw unusable;
      return workload.client();
    },
    forget: () => undefined,
  });
  controller.watch(fakeInformers(management), () => undefined);
});

async function reconcile(): Promise<void> {
  await controller.reconcile('bke/prod', reconcileScope());
}

const bkeCluster = (): Promise<KubeObject | undefined> => management.get(clusterKey);

async function commandID(host: string): Promise<string> {
  const command = await management.get({ apiVersion: 'bke.io/v1alpha1', kind: 'HostCommand', namespace, name: host });
  return textAt(command, 'spec', 'commandID') ?? '';
}

async function state(): Promise<string> {
  const found = await bkeCluster();
  return `${textAt(found, 'status', 'state', 'name')} ${textAt(found, 'status', 'state', 'reason')}`;
}

/** As Cluster API would: with a node, on that host. */
function putNode(name: string, isControlPlane: boolean): void {
  const [machine, bkeMachine] = machineObjects(name, isControlPlane);
  management.put({ ...machine, status: { nodeRef: { name } } }, { ...bkeMachine, spec: { hostRef: { name } } });
  const condition = { type: 'Ready', status: 'True', reason: '', message: '' };
  workload.put({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions: [condition] } });
}

describe('a cluster that comes', () => {
  it('is provisioned only when the host at its endpoint is prepared; workers are prepared meanwhile', async () => {
    await reconcile();
    expect(await commandID('cp1')).toMatch(/^prepare-/);
    expect(await commandID('w1')).toMatch(/^prepare-/);
    expect(await commandID('cp0')).toBe('none-yet');
    expect(fieldAt(await bkeCluster(), 'status', 'initialization')).toBeUndefined();
    expect(conditionOf(await bkeCluster(), 'Ready')).toMatchObject({ status: 'False', reason: 'Preparing' });
    await endCommand(management, 'cp1', 'Done');
    await reconcile();
    expect(fieldAt(await bkeCluster(), 'status', 'initialization', 'provisioned')).toBe(true);
    expect(conditionOf(await bkeCluster(), 'Ready')?.status).toBe('True');
    expect(told).toContain('Stage stage infrastructure has ended after 0.0s');
  });

  it('gets the address of its only control plane host where nobody gave one', async () => {
    management.put(bkeClusterObject({ cni: 'flannel' }));
    await reconcile();
    expect(fieldAt(await bkeCluster(), 'spec', 'controlPlaneEndpoint')).toEqual({ host: '10.0.0.10', port: 6443 });
    expect(await commandID('cp0')).toMatch(/^prepare-/);
  });

  it('is told that several control planes need an endpoint', async () => {
    management.put(bkeClusterObject({ cni: 'flannel' }), controlPlane(3));
    await reconcile();
    expect(conditionOf(await bkeCluster(), 'EndpointKnown')?.reason).toBe('EndpointNeeded');
  });

  it('has failed where its first host has, with the host in the state', async () => {
    await reconcile();
    await endCommand(management, 'cp1', 'Failed');
    await reconcile();
    expect(await state()).toBe('InstallFailed InstallFailed');
    expect(fieldAt(await bkeCluster(), 'status', 'state')).toMatchObject({
      host: 'cp1',
      message: 'cp1, step check: BKE_PULL_FAILED: no such image\nLoad it.',
    });
  });

  it('does not begin with a load balancer that nobody would run', async () => {
    management.put(bkeClusterObject({ cni: 'flannel', controlPlaneEndpoint: endpoint, loadBalancer: 'keepalived' }));
    await reconcile();
    await endCommand(management, 'cp0', 'Done');
    await reconcile();
    expect(conditionOf(await bkeCluster(), 'Ready')?.reason).toBe('SettingUnsupported');
  });

  it('has no command written to a host that a machine has claimed meanwhile', async () => {
    const key = { apiVersion: 'bke.io/v1alpha1', kind: 'BKEHost', namespace, name: 'w1' };
    await management.patch(key, { spec: { consumerRef: { namespace, name: 'other' }, claimID: 'x' } });
    await reconcile();
    expect(await commandID('w1')).toBe('none-yet');
  });

  it('goes through its states until it is healthy, with a history', async () => {
    await reconcile();
    expect(await state()).toBe('Installing ControlPlane');
    await endCommand(management, 'cp1', 'Done');
    management.put(clusterObject({ status: { initialization: { controlPlaneInitialized: true } } }));
    putNode('cp1', true);
    await reconcile();
    expect(await state()).toBe('Installing Workers');
    putNode('w1', false);
    workload.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'kube-system', name: 'dns' },
      status: { phase: 'Pending' },
    });
    await reconcile();
    expect(await state()).toBe('Abnormal NotReady');
    expect(textAt(await bkeCluster(), 'status', 'state', 'message')).toContain('0 of 1 Pods ready');
    await workload.delete({ apiVersion: 'v1', kind: 'Pod', namespace: 'kube-system', name: 'dns' });
    await reconcile();
    expect(await state()).toBe('Healthy AllReady');
    const history = listAt(await bkeCluster(), 'status', 'history').map((one) => textAt(one, 'name'));
    expect(history).toEqual(['Installing', 'Installing', 'Abnormal']);
    const stages = listAt(await bkeCluster(), 'status', 'stages');
    expect(stages.every((stage) => textAt(stage, 'ended') !== undefined)).toBe(true);
    expect(stages).toHaveLength(4);
    const writes = management.writes.length;
    await reconcile();
    expect(management.writes.length).toBe(writes);
  });

  it('is not healthy while a machine that is to stay has no node, though as many as are wanted have one', async () => {
    await reconcile();
    await endCommand(management, 'cp1', 'Done');
    await reconcile();
    putNode('cp1', true);
    putNode('w1', false);
    await reconcile();
    expect(await state()).toBe('Healthy AllReady');
    management.put(...machineObjects('surplus', true));
    await reconcile();
    expect(await state()).toBe('Scaling Replacing');
    expect(textAt(await bkeCluster(), 'status', 'state', 'message')).toContain('surplus');
  });

  it('is not healthy without the add-ons that it asks for, and says which and why', async () => {
    const wanted = { cni: 'flannel', controlPlaneEndpoint: endpoint, addons: [{ name: 'apps' }] };
    management.put(bkeClusterObject(wanted));
    await reconcile();
    await endCommand(management, 'cp1', 'Done');
    await reconcile();
    putNode('cp1', true);
    putNode('w1', false);
    const message = async (): Promise<string | undefined> => textAt(await bkeCluster(), 'status', 'state', 'message');
    await reconcile();
    expect([await state(), await message()]).toEqual(['Abnormal NotReady', 'add-on apps is not applied yet']);
    const error = { code: 'BKE_KUBE_REFUSED', message: 'spec.selector is missing', hint: 'Mend it.' };
    const said = async (status: object): Promise<void> => {
      await management.patch(clusterKey, { status: { addons: [{ name: 'flannel', phase: 'Ready' }, status] } });
      await reconcile();
    };
    await said({ name: 'apps', phase: 'Failed', error });
    expect([await state(), await message()]).toEqual([
      'Abnormal AddonFailed',
      'add-on apps: BKE_KUBE_REFUSED: spec.selector is missing\nMend it.',
    ]);
    expect(conditionOf(await bkeCluster(), 'Healthy')).toMatchObject({ status: 'False', reason: 'AddonFailed' });
    workload.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'apps', name: 'web' },
      status: { phase: 'Pending' },
    });
    await said({ name: 'apps', phase: 'Applied', message: 'Deployment apps/web: 0 of 1 ready' });
    expect([await state(), await message()]).toEqual([
      'Abnormal NotReady',
      'add-on apps is not ready: Deployment apps/web: 0 of 1 ready',
    ]);
    await said({ name: 'apps', phase: 'Ready', namespaces: ['apps'] });
    expect(await message()).toContain('0 of 1 Pods ready, waiting for apps/web');
    await said({ name: 'apps', phase: 'Ready', namespaces: ['other'] });
    expect(await state()).toBe('Healthy AllReady');
  });

  it('says what is wrong with a kubeconfig that nobody can use', async () => {
    await reconcile();
    await endCommand(management, 'cp1', 'Done');
    await reconcile();
    putNode('cp1', true);
    putNode('w1', false);
    unusable = new BkeError('BKE_KUBECONFIG_INVALID', 'the Secret bke/prod-kubeconfig is no kubeconfig');
    await reconcile();
    expect(await state()).toBe('Abnormal NotReady');
    expect(textAt(await bkeCluster(), 'status', 'state', 'message')).toBe(unusable.message);
  });

  it('has its status again after a move, which drops it', async () => {
    await reconcile();
    await endCommand(management, 'cp1', 'Done');
    await reconcile();
    await management.patch(clusterKey, { status: null });
    await reconcile();
    expect(fieldAt(await bkeCluster(), 'status', 'initialization', 'provisioned')).toBe(true);
  });
});

describe('a cluster with several deployments', () => {
  const ofRack = (name: string, rack: string): KubeObject => ({
    ...template(name),
    spec: { template: { spec: { hostSelector: { matchLabels: { rack } } } } },
  });
  const deployment = (name: string, replicas: number): KubeObject => ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { namespace, name, labels: { 'cluster.x-k8s.io/cluster-name': 'prod' } },
    spec: { replicas, template: { spec: { version, ...templateRef(name) } } },
  });
  const putMachine = (name: string, of: string): void => {
    const [machine, bkeMachine] = machineObjects(name, false);
    const labels = { ...machine.metadata.labels, 'cluster.x-k8s.io/deployment-name': of };
    management.put({ ...machine, metadata: { ...machine.metadata, labels } }, bkeMachine);
  };
  const prepared = async (...hosts: readonly string[]): Promise<string[]> => {
    const found = await Promise.all(hosts.map(async (host) => ((await commandID(host)) === 'none-yet' ? [] : [host])));
    return found.flat();
  };

  beforeEach(async () => {
    await management.delete({
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      namespace,
      name: 'prod-w',
    });
    for (const [index, name] of ['w2', 'w3', 'w4'].entries()) putHost(management, name, `10.0.0.3${index}`, 'worker');
  });

  it('has for each as many hosts prepared as it wants, none twice', async () => {
    management.put(template('prod-a'), template('prod-b'), deployment('prod-a', 2), deployment('prod-b', 1));
    await reconcile();
    expect(await prepared('w1', 'w2', 'w3', 'w4')).toEqual(['w1', 'w2', 'w3']);
  });

  it('leaves to those that want labels the hosts that have them', async () => {
    const key = { apiVersion: 'bke.io/v1alpha1', kind: 'BKEHost', namespace, name: 'w1' };
    await management.patch(key, { metadata: { labels: { rack: 'b' } } });
    management.put(template('prod-a'), ofRack('prod-b', 'b'), deployment('prod-a', 1), deployment('prod-b', 1));
    await reconcile();
    expect(await prepared('w1', 'w2', 'w3', 'w4')).toEqual(['w1', 'w2']);
  });

  it('counts the machines of each alone', async () => {
    management.put(template('prod-a'), template('prod-b'), deployment('prod-a', 2), deployment('prod-b', 2));
    for (const name of ['a1', 'a2']) putMachine(name, 'prod-a');
    putMachine('b1', 'prod-b');
    await reconcile();
    expect(await prepared('w1', 'w2', 'w3', 'w4')).toEqual(['w1']);
  });
});

it('gathers each host that fails as an event on the cluster', async () => {
  const failing = (name: string): KubeObject[] => {
    const [machine, bkeMachine] = machineObjects(name, false);
    const ready = { type: 'Ready', status: 'False', reason: 'BootstrapFailed', message: `${name}: it does not start` };
    return [machine, { ...bkeMachine, spec: { hostRef: { name } }, status: { conditions: [ready] } }];
  };
  management.put(...failing('w1'));
  await reconcile();
  management.put(...failing('w2'));
  await reconcile();
  const failed = told.filter((line) => line.startsWith('HostFailed'));
  expect([...new Set(failed)]).toEqual(['HostFailed w1: it does not start', 'HostFailed w2: it does not start']);
});

describe('a cluster that is to be moved', () => {
  const { spec } = clusterObject();
  const paused = clusterObject({ spec: { ...Object(spec), paused: true } });
  const blocks = async (): Promise<boolean> =>
    (await bkeCluster())?.metadata.annotations?.['clusterctl.cluster.x-k8s.io/block-move'] !== undefined;
  const operation = (phase: string): KubeObject => ({
    apiVersion: 'bke.io/v1alpha1',
    kind: 'BKEOperation',
    metadata: { namespace, name: 'op' },
    spec: { action: 'create', target: { kind: 'Cluster', name: 'prod' } },
    status: { phase },
  });

  it('waits for what its hosts do, also where clusterctl has paused it meanwhile', async () => {
    await reconcile();
    expect(await blocks()).toBe(false);
    await reconcile();
    expect(await blocks()).toBe(true);
    management.put(paused);
    await endCommand(management, 'cp1', 'Done');
    await reconcile();
    expect(await blocks()).toBe(true);
    await endCommand(management, 'w1', 'Done');
    await reconcile();
    expect(await blocks()).toBe(false);
  });

  it('waits for its operation, and never begins to once it is paused', async () => {
    management.put(operation('Running'));
    await reconcile();
    expect(await blocks()).toBe(true);
    management.put(operation('Done'), paused);
    await endCommand(management, 'cp1', 'Done');
    await endCommand(management, 'w1', 'Done');
    await reconcile();
    expect(await blocks()).toBe(false);
    management.put(operation('Running'));
    await reconcile();
    expect(await blocks()).toBe(false);
  });
});

describe('a cluster that goes', () => {
  it('does not take what failed before for a clean-up that failed, and ends no stage any more', async () => {
    const [machine, bkeMachine] = machineObjects('m1', false);
    const deletionTimestamp = '2026-11-30T10:00:00Z';
    const ready = (reason: string): object => ({
      status: { conditions: [{ type: 'Ready', status: 'False', reason, message: 'w1: x' }] },
    });
    const { metadata } = clusterObject();
    management.put(clusterObject({ metadata: { ...metadata, deletionTimestamp } }));
    management.put({ ...machine, metadata: { ...machine.metadata, deletionTimestamp } });
    management.put({ ...bkeMachine, ...ready('BootstrapFailed') });
    await reconcile();
    expect(await state()).toBe('Deleting Deleting');
    expect(fieldAt(await bkeCluster(), 'status', 'stages')).toMatchObject([{ name: 'infrastructure' }]);
    management.put({ ...bkeMachine, ...ready('CleanUpFailed') });
    await reconcile();
    expect(await state()).toBe('DeleteFailed CleanUpFailed');
  });

  it.each([
    ['goes', 'the login of its registry that bke wrote', { 'bke.io/secret-of': 'prod' }],
    ['stays', 'one of people', {}],
    ['stays', 'one of another cluster', { 'bke.io/secret-of': 'other' }],
  ])('%s with it: %s', async (what, _which, labels) => {
    const key = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'prod-registry' };
    management.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: key.name, labels } });
    management.put(bkeClusterObject({ cni: 'none', registry: { host: 'r', port: 1, secretRef: { name: key.name } } }));
    await management.patch(clusterKey, { metadata: { deletionTimestamp: '2026-11-30T10:00:00Z' } });
    await reconcile();
    expect((await management.get(key)) === undefined).toBe(what === 'goes');
  });

  it('waits for its machines, then has hosts cleaned that were prepared and never used', async () => {
    await reconcile();
    await endCommand(management, 'cp1', 'Done');
    await endCommand(management, 'w1', 'Done');
    const [, bkeMachine] = machineObjects('m1', true);
    management.put(bkeMachine);
    await management.patch(clusterKey, { metadata: { deletionTimestamp: '2026-11-30T10:00:00Z' } });
    await reconcile();
    expect(await state()).toBe('Deleting Deleting');
    expect(textAt(await bkeCluster(), 'status', 'state', 'message')).toContain('bke/m1');
    await management.delete({ apiVersion: infrastructure, kind: 'BKEMachine', namespace, name: 'm1' });
    await reconcile();
    expect(await commandID('cp1')).toMatch(/^reset-/);
    expect(await commandID('w1')).toMatch(/^reset-/);
    expect(await commandID('cp0')).toBe('none-yet');
    await endCommand(management, 'cp1', 'Done');
    await endCommand(management, 'w1', 'Failed');
    await reconcile();
    expect(await state()).toBe('DeleteFailed CleanUpFailed');
    await management.patch(clusterKey, { metadata: { annotations: { 'bke.io/force-release': 'true' } } });
    await reconcile();
    expect(applied.at(-1)?.metadata.finalizers).toBeUndefined();
    const left = await management.get({ apiVersion: 'bke.io/v1alpha1', kind: 'BKEHost', namespace, name: 'w1' });
    expect(textAt(left, 'spec', 'quarantine', 'reason')).toContain('without being cleaned');
  });

  it('says of a prepared host whose agent is silent that it is, and the way out', async () => {
    await reconcile();
    const key = { apiVersion: 'bke.io/v1alpha1', kind: 'BKEHost', namespace, name: 'w1' };
    const conditions = [{ type: 'AgentReady', status: 'False', reason: 'HeartbeatLost', message: 'none came' }];
    await management.patch(key, { status: { conditions } });
    await endCommand(management, 'cp1', 'Done');
    await management.patch(clusterKey, { metadata: { deletionTimestamp: '2026-11-30T10:00:00Z' } });
    await reconcile();
    expect(await state()).toBe('Deleting Deleting');
    const message = textAt(await bkeCluster(), 'status', 'state', 'message');
    expect(message).toContain('w1: waits for its agent to end what it does (prepare-');
    expect(message).toContain('Its agent does not answer (HeartbeatLost)');
    expect(message).toContain('annotate the BKECluster with bke.io/force-release=true');
  });
});
