// Nothing is written about what is paused or moved, whatever else is so: by any controller, deletion or not.
import { describe, expect, it } from 'vitest';
import { addonsController } from '../../../src/controllers/addons/controller.ts';
import { bkeClusterController } from '../../../src/controllers/bkecluster/controller.ts';
import { bkeHostController } from '../../../src/controllers/bkehost/controller.ts';
import { bkeMachineController } from '../../../src/controllers/bkemachine/controller.ts';
import { bkeOperationController } from '../../../src/controllers/bkeoperation/controller.ts';
import type { Controller, ControllerContext } from '../../../src/controllers/controller.ts';
import { createMetrics } from '../../../src/controllers/metrics.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
import { conditionOf } from '../../../src/kube/conditions.ts';
import { fieldAt } from '../../../src/kube/fields.ts';
import { bkeClusterObject, clusterObject, machineObjects, putHost, putSite, version } from '../../fakes/fleet.ts';
import { fakeInformers } from '../../fakes/informers.ts';
import { FakeCluster } from '../../fakes/kube-client.ts';
import { reconcileScope } from '../../fakes/scope.ts';

const namespace = 'bke';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const bke = 'bke.io/v1alpha1';
const paused = 'cluster.x-k8s.io/paused';
const moving = 'clusterctl.cluster.x-k8s.io/delete-for-move';

interface Bench {
  readonly management: FakeCluster;
  /** What a reconcile wrote there, in a cluster that it made, or to a host. */
  readonly written: KubeObject[];
  readonly client: KubeClient;
  readonly context: ControllerContext;
  readonly workloads: { clientOf(): Promise<KubeClient>; forget(): void };
}

function bench(): Bench {
  const management = new FakeCluster();
  const written: KubeObject[] = [];
  const recording = (cluster: FakeCluster): KubeClient => ({
    ...cluster.client(),
    apply: async (object, options) => {
      written.push(object);
      return cluster.apply(object, options);
    },
    patch: async (key, patch) => {
      const after = await cluster.patch(key, patch);
      written.push(after);
      return after;
    },
    create: async (object) => {
      written.push(object);
      cluster.put(object);
      return object;
    },
    delete: async (key) => {
      written.push({ ...key, metadata: { name: key.name } });
      return cluster.delete(key);
    },
  });
  const record = async ({ object, reason }: { object: object; reason: string }): Promise<void> => {
    written.push({ apiVersion: 'v1', kind: `Event ${reason}`, metadata: { name: JSON.stringify(object) } });
  };
  const workload = recording(new FakeCluster());
  return {
    management,
    written,
    client: recording(management),
    context: {
      events: { record },
      metrics: createMetrics(),
      now: () => new Date('2026-11-30T10:00:00Z'),
      namespace: undefined,
    },
    workloads: { clientOf: async () => workload, forget: () => undefined },
  };
}

/** Each with what it looks after, so that it has something to do. */
const controllers: Readonly<
  Record<
    string,
    { make(bench: Bench): Controller; readonly key: string; readonly kind: string; readonly says: boolean }
  >
> = {
  bkemachine: {
    make: ({ client, context }) => bkeMachineController(client, context),
    key: 'bke/m1',
    kind: 'BKEMachine',
    says: true,
  },
  bkecluster: {
    make: ({ client, context, workloads }) => bkeClusterController(client, context, workloads),
    key: 'bke/prod',
    kind: 'BKECluster',
    says: true,
  },
  addons: {
    make: ({ client, context, workloads }) => {
      const manifests = {
        text: async () => 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: b}\n',
      };
      return addonsController(client, context, { workloads, manifests });
    },
    key: 'bke/prod',
    kind: 'BKECluster',
    says: false,
  },
  bkehost: {
    make: ({ client, context, written }) => {
      const connect = async (): Promise<never> => {
        written.push({ apiVersion: 'ssh', kind: 'Login', metadata: { name: 'w1' } });
        throw new Error('not reached');
      };
      return bkeHostController(client, context, { connect, version: '1.0.0', own: undefined });
    },
    key: 'bke/w1',
    kind: 'BKEHost',
    says: false,
  },
  bkeoperation: {
    make: ({ client, context }) => bkeOperationController(client, context),
    key: 'bke/prod',
    kind: 'Cluster',
    says: false,
  },
};

interface Change {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deleting: boolean;
}

function changed(object: KubeObject, { annotations = {}, deleting }: Change): KubeObject {
  const going = deleting ? { deletionTimestamp: '2026-11-30T09:00:00Z' } : {};
  const metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations }, ...going };
  return { ...object, metadata };
}

/** A cluster on its way up, and all that it is made of. */
function fill(management: FakeCluster, kind: string, change: Change, clusterPaused: boolean): void {
  putSite(management);
  putHost(management, 'w1', '10.0.0.21', 'worker');
  const prod = clusterObject({
    status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
  });
  const metadata = { ...prod.metadata, creationTimestamp: '2026-11-30T08:00:00Z' };
  const spec = { ...Object(prod['spec']), ...(clusterPaused ? { paused: true } : {}) };
  const host = management.objects({ apiVersion: bke, kind: 'BKEHost' });
  const operation = {
    apiVersion: bke,
    kind: 'BKEOperation',
    metadata: { namespace, name: 'op', uid: 'op', creationTimestamp: '2026-11-30T08:00:00Z' },
    spec: { action: 'create', target: { kind: 'Cluster', name: 'prod' } },
  };
  const template = { apiVersion: infrastructure, kind: 'BKEMachineTemplate', metadata: { namespace, name: 't' } };
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BKEMachineTemplate', name: 't' };
  const controlPlane = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmControlPlane',
    metadata: { namespace, name: 'prod-cp' },
    spec: { replicas: 1, version, machineTemplate: { spec: { infrastructureRef } } },
  };
  const all: KubeObject[] = [
    { ...prod, metadata, spec },
    bkeClusterObject({ cni: 'flannel', controlPlaneEndpoint: { host: '10.0.0.11', port: 6443 } }),
    ...machineObjects('m1', false),
    ...host,
    operation,
    { ...template, spec: { template: { spec: {} } } },
    controlPlane,
  ];
  management.put(...all.map((object) => (object.kind === kind ? changed(object, change) : object)));
}

async function run(name: string, change: Change, clusterPaused: boolean) {
  const given = controllers[name];
  if (given === undefined) throw new Error(`no controller ${name}`);
  const made = bench();
  fill(made.management, given.kind, change, clusterPaused);
  const controller = given.make(made);
  controller.watch(fakeInformers(made.management), () => undefined);
  const scope = reconcileScope();
  await controller.reconcile(given.key, scope);
  // Jobs over SSH begin in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve));
  const [namespaceOf = '', nameOf = ''] = given.key.split('/');
  const apiVersion = given.kind === 'BKEHost' ? bke : infrastructure;
  const object = await made.management.get({ apiVersion, kind: given.kind, namespace: namespaceOf, name: nameOf });
  return { given, object, written: made.written };
}

/** All that was written but the condition Paused. */
function others(written: readonly KubeObject[]): readonly KubeObject[] {
  return written.filter((object) => {
    const conditions = fieldAt(object, 'status', 'conditions');
    const fields = Object.keys(Object(object['status']));
    const types = Array.isArray(conditions) ? conditions.map((condition) => String(fieldAt(condition, 'type'))) : [];
    return fields.join() !== 'conditions' || types.join() !== 'Paused';
  });
}

describe.each(Object.keys(controllers))('%s', (name) => {
  it('has something to do where nothing holds it', async () => {
    const { written } = await run(name, { deleting: false }, false);
    expect(others(written)).not.toEqual([]);
  });

  for (const deleting of [false, true]) {
    const when = deleting ? 'that is deleted' : 'that is there';
    it(`writes nothing where its object ${when} is on its way into another cluster`, async () => {
      const { written } = await run(name, { annotations: { [moving]: '' }, deleting }, true);
      expect(written).toEqual([]);
      const late = await run(name, { annotations: { [moving]: '' }, deleting }, false);
      expect(late.written).toEqual([]);
    });

    it(`leaves its object ${when} alone where that is paused by its annotation`, async () => {
      const { written, object, given } = await run(name, { annotations: { [paused]: '' }, deleting }, false);
      expect(others(written)).toEqual([]);
      if (given.says) expect(conditionOf(object, 'Paused')).toMatchObject({ status: 'True', reason: 'Paused' });
    });

    // An operation that is cancelled pauses its Cluster itself, and has to go on.
    if (name === 'bkeoperation') continue;
    it(`leaves its object ${when} alone where the Cluster is paused`, async () => {
      const { written, object, given } = await run(name, { deleting }, true);
      expect(others(written)).toEqual([]);
      if (given.says) expect(conditionOf(object, 'Paused')).toMatchObject({ message: 'its Cluster is paused' });
    });
  }

  it('says that its object is not paused where that is one that Cluster API asks about', async () => {
    const { object, given } = await run(name, { deleting: false }, false);
    expect(conditionOf(object, 'Paused')?.status).toBe(given.says ? 'False' : undefined);
  });
});
