// A site with one release, hosts that are free, and a cluster to be made of them, as objects.
import { type Site, siteObject } from '../../src/cluster/site.ts';
import type { KubeObject } from '../../src/kube/client.ts';
import { listAt, textAt } from '../../src/kube/fields.ts';
import type { Catalogue } from '../../src/release/catalogue.ts';
import { releaseObject } from '../../src/tasks/cluster-api/release-object.ts';
import type { FakeCluster } from './kube-client.ts';

const platform = 'linux/amd64';
const digest = `sha256:${'0'.repeat(64)}` as const;
export const version = 'v1.36.3';

export const site: Site = {
  domain: 'deploy.bke.internal',
  hostIP: '10.0.0.5',
  ports: { registry: 40_443, files: 40_080, charts: 38_080 },
  ca: '-----BEGIN CERTIFICATE-----\nsite\n-----END CERTIFICATE-----\n',
  servers: ['https://10.0.0.5:36443'],
  serverCa: '-----BEGIN CERTIFICATE-----\napi\n-----END CERTIFICATE-----\n',
};

function file(name: string, of: string, type: 'binary' | 'archive' | 'manifest'): Catalogue['files'][number] {
  return { name, version: of, type, variants: { [platform]: { path: `${name}/${of}`, digest, size: 1 } } };
}

function image(ref: string): Catalogue['images'][number] {
  return { name: ref, ref, digest, platforms: { [platform]: digest } };
}

export const catalogue: Catalogue = {
  name: 'r',
  version: '1',
  kubernetesVersions: [version],
  files: [
    ...['kubeadm', 'kubelet', 'kubectl'].map((name) => file(name, version, 'binary')),
    ...['containerd', 'cni-plugins'].map((name) => file(name, 'v2.1.4', 'archive')),
    ...['runc', 'crictl'].map((name) => file(name, 'v1.3.0', 'binary')),
    file('flannel', 'v0.27.4', 'manifest'),
    file('metrics-server', 'v0.8.0', 'manifest'),
  ],
  images: [
    ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'].map((name) =>
      image(`registry.k8s.io/${name}:${version}`),
    ),
    image('registry.k8s.io/etcd:3.6.8-0'),
    image('registry.k8s.io/coredns/coredns:v1.14.2'),
    image('registry.k8s.io/pause:3.10.2'),
    image('ghcr.io/flannel-io/flannel:v0.27.4'),
    image('ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0-flannel1'),
  ],
  charts: [],
};

export function putSite(cluster: FakeCluster): void {
  cluster.put(siteObject(site), releaseObject(catalogue));
}

const bke = 'bke.io/v1alpha1';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const core = 'cluster.x-k8s.io/v1beta2';
const namespace = 'bke';
const ofProd = { 'cluster.x-k8s.io/cluster-name': 'prod' };

/** Available, with an agent that has nothing to do. */
export function putHost(cluster: FakeCluster, name: string, address: string, role: 'control-plane' | 'worker'): void {
  const metadata = { namespace, name, uid: name, labels: { 'bke.io/cluster': 'prod' } };
  const spec = { address, roles: [role] };
  const status = {
    facts: { arch: 'amd64' },
    conditions: [{ type: 'Available', status: 'True', reason: 'Available', message: '' }],
  };
  const idle = { commandID: 'none-yet', leaseGeneration: 0, steps: [] };
  cluster.put(
    { apiVersion: bke, kind: 'BKEHost', metadata, spec, status },
    { apiVersion: bke, kind: 'HostCommand', metadata: { namespace, name, uid: `c-${name}` }, spec: idle },
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: `inbox-${name}` } },
  );
}

export function clusterObject(change: Partial<KubeObject> = {}): KubeObject {
  return {
    apiVersion: core,
    kind: 'Cluster',
    metadata: { namespace, name: 'prod', uid: 'cluster', labels: ofProd },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ['10.250.0.0/16'] } },
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'prod-cp' },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BKECluster', name: 'prod' },
    },
    ...change,
  };
}

export function bkeClusterObject(spec: object): KubeObject {
  const metadata = { namespace, name: 'prod', uid: 'bke-cluster', labels: ofProd };
  return { apiVersion: infrastructure, kind: 'BKECluster', metadata, spec };
}

/** The machine `name` of the cluster: its Machine and its BKEMachine. */
export function machineObjects(name: string, controlPlane: boolean): [machine: KubeObject, bkeMachine: KubeObject] {
  const labels = { ...ofProd, ...(controlPlane ? { 'cluster.x-k8s.io/control-plane': '' } : {}) };
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BKEMachine', name };
  const ownerReferences = [{ apiVersion: core, kind: 'Machine', name, uid: `m-${name}` }];
  return [
    {
      apiVersion: core,
      kind: 'Machine',
      metadata: { namespace, name, uid: `m-${name}`, labels },
      spec: { clusterName: 'prod', version, bootstrap: {}, infrastructureRef },
    },
    {
      apiVersion: infrastructure,
      kind: 'BKEMachine',
      metadata: { namespace, name, uid: `b-${name}`, labels, ownerReferences },
      spec: {},
    },
  ];
}

/** As the agent of the host would say. */
export async function endCommand(
  cluster: FakeCluster,
  host: string,
  state: 'Done' | 'Failed' | 'Running',
): Promise<void> {
  const key = { apiVersion: bke, kind: 'HostCommand', namespace, name: host };
  const command = await cluster.get(key);
  const steps = listAt(command, 'spec', 'steps').map((step) => ({
    id: textAt(step, 'id'),
    state,
    attempt: 1,
    ...(state === 'Failed' ? { error: { code: 'BKE_PULL_FAILED', message: 'no such image', hint: 'Load it.' } } : {}),
  }));
  await cluster.patch(key, { status: { commandID: textAt(command, 'spec', 'commandID'), steps } });
}
