// A cluster for the managers to work on: an infrastructure of plain definitions that says at once that it is there.
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
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

/** One control plane; what is left out is for the webhooks to fill in. */
export async function createCluster(client: KubeClient, name: string): Promise<void> {
  const metadata = { name, namespace };
  const ref = (kind: string) => ({ apiGroup: group, kind, name });
  const endpoint = { host: '192.0.2.1', port: 6443 };
  const controlPlane = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name };
  const objects = [
    { apiVersion, kind: 'TestMachineTemplate', metadata, spec: { template: { spec: {} } } },
    { apiVersion, kind: 'TestCluster', metadata, spec: { controlPlaneEndpoint: endpoint } },
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata,
      spec: { infrastructureRef: ref('TestCluster'), controlPlaneRef: controlPlane },
    },
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmControlPlane',
      metadata,
      spec: { version: '1.36.3', machineTemplate: { spec: { infrastructureRef: ref('TestMachineTemplate') } } },
    },
  ];
  await applyAll(client, objects, options);
  const provisioned = { status: { initialization: { provisioned: true } } };
  await client.patch({ apiVersion, kind: 'TestCluster', ...metadata }, provisioned, {
    type: 'merge',
    fieldManager: 'test',
    subresource: 'status',
  });
}
