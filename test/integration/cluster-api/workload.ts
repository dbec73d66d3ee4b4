// A cluster for the managers to work on: an infrastructure of plain definitions that says at once that it is there.
import type { KubeClient, KubeObject, ObjectMeta } from '../../../src/kube/client.ts';
import { applyAll } from '../../../src/kube/apply.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const apiVersion = `${group}/v1alpha1`;
const namespace = 'bke';

function definition(kind: string): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec: anything, status: anything } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha1' } },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [
        { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } },
      ],
    },
  };
}

const options = { fieldManager: 'test', signal: new AbortController().signal };

export async function defineInfrastructure(client: KubeClient): Promise<void> {
  await applyAll(client, ['TestCluster', 'TestMachine', 'TestMachineTemplate'].map(definition), options);
}

/** What owns the parts of a cluster: it and its control plane, by the kinds of its infrastructure. */
function ownersOf(
  metadata: ObjectMeta,
  kinds: { readonly infrastructure: string; readonly machines: string; readonly version: string },
): KubeObject[] {
  const { name } = metadata;
  const ref = (kind: string) => ({ apiGroup: group, kind, name });
  const controlPlaneRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name };
  return [
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata,
      spec: { infrastructureRef: ref(kinds.infrastructure), controlPlaneRef },
    },
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmControlPlane',
      metadata,
      spec: { version: kinds.version, machineTemplate: { spec: { infrastructureRef: ref(kinds.machines) } } },
    },
  ];
}

/** One control plane; what is left out is for the webhooks to fill in. */
export async function createCluster(client: KubeClient, name: string): Promise<void> {
  const metadata = { name, namespace };
  const endpoint = { host: '192.0.2.1', port: 6443 };
  const objects = [
    { apiVersion, kind: 'TestMachineTemplate', metadata, spec: { template: { spec: {} } } },
    { apiVersion, kind: 'TestCluster', metadata, spec: { controlPlaneEndpoint: endpoint } },
    ...ownersOf(metadata, { infrastructure: 'TestCluster', machines: 'TestMachineTemplate', version: '1.36.3' }),
  ];
  await applyAll(client, objects, options);
  const provisioned = { status: { initialization: { provisioned: true } } };
  await client.patch({ apiVersion, kind: 'TestCluster', ...metadata }, provisioned, {
    type: 'merge',
    fieldManager: 'test',
    subresource: 'status',
  });
}

/** One control plane of bke's own kinds, with the host that it gets, whose agent never answers. Its infrastructure says at once that it is there. */
export async function createOwnCluster(client: KubeClient, name: string, host: string): Promise<void> {
  const bke = 'bke.io/v1alpha1';
  const metadata = { name, namespace, labels: { 'cluster.x-k8s.io/cluster-name': name } };
  const ofHost = { name: host, namespace, labels: { 'bke.io/cluster': name } };
  const provisioned = { annotations: { 'bke.io/provisioned': 'true' } };
  const endpoint = { host: '192.0.2.21', port: 6443 };
  const idle = { commandID: 'none-yet', leaseGeneration: 0, steps: [] };
  const objects: KubeObject[] = [
    { apiVersion: bke, kind: 'BKEHost', metadata: ofHost, spec: { address: endpoint.host, roles: ['control-plane'] } },
    { apiVersion: bke, kind: 'HostCommand', metadata: { name: host, namespace }, spec: idle },
    { apiVersion, kind: 'BKEMachineTemplate', metadata, spec: { template: { spec: {} } } },
    {
      apiVersion,
      kind: 'BKECluster',
      metadata: { ...metadata, ...provisioned },
      spec: { cni: 'none', controlPlaneEndpoint: endpoint },
    },
    ...ownersOf(metadata, { infrastructure: 'BKECluster', machines: 'BKEMachineTemplate', version: 'v1.36.3' }),
  ];
  await applyAll(client, objects, options);
  const lastTransitionTime = new Date().toISOString();
  const condition = (type: string, status: string, reason: string) => ({
    type,
    status,
    reason,
    message: '',
    lastTransitionTime,
  });
  const conditions = [condition('Available', 'True', 'Available'), condition('AgentReady', 'False', 'HeartbeatLost')];
  await client.patch(
    { apiVersion: bke, kind: 'BKEHost', namespace, name: host },
    { status: { facts: { arch: 'amd64' }, conditions } },
    { type: 'merge', fieldManager: 'test', subresource: 'status' },
  );
}
