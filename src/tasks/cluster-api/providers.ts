// The providers that bke installs, as a table: where each comes from, where it lives, and what its webhooks are called.
import type { KubeObject } from '../../kube/client.ts';
import type { FeatureGates } from './feature-gates.ts';

/** Namespace of what belongs to bke itself. */
export const systemNamespace = 'bke-system';
/** Namespace of clusters and hosts, where no other is given. */
export const clustersNamespace = 'bke';

/** A provider as clusterctl's inventory names it. */
export interface Provider {
  /** Its manifest label in clusterctl's words, unique among all providers. */
  readonly name: string;
  readonly providerName: string;
  readonly type: 'CoreProvider' | 'BootstrapProvider' | 'ControlPlaneProvider' | 'InfrastructureProvider';
  readonly namespace: string;
  readonly title: string;
  readonly deployment: string;
  /** Name of its manifest in the release; absent for bke's own, which is part of bke. */
  readonly file?: string;
  /** Repository of its image. */
  readonly image: string;
  /** Added to the gates its manifest has. */
  readonly featureGates: FeatureGates;
  readonly webhook?: ProviderWebhook;
}

export interface ProviderWebhook {
  readonly service: string;
  /** Holds the serving certificate. */
  readonly secret: string;
  readonly probe: WebhookProbe;
}

/** An object with a mistake that only this webhook sees: whether it is refused tells whether the webhook works. */
export interface WebhookProbe {
  /** As its configuration calls it. */
  readonly name: string;
  readonly object: KubeObject;
}

/** What in-place updates need (their hooks are called by core and by the control plane provider), and no artificial second between two reconciles. */
const gates = { ClusterTopology: true, RuntimeSDK: true, InPlaceUpdates: true, ReconcilerRateLimiting: false };

const probeName = 'bke-webhook-probe';
const nowhere = { apiGroup: 'infrastructure.cluster.x-k8s.io', name: probeName };

/** In the order of installation: each needs the ones before it. */
export const providers: readonly Provider[] = [
  {
    name: 'cluster-api',
    providerName: 'cluster-api',
    type: 'CoreProvider',
    namespace: 'capi-system',
    title: 'Cluster API',
    deployment: 'capi-controller-manager',
    file: 'cluster-api-core',
    image: 'registry.k8s.io/cluster-api/cluster-api-controller',
    featureGates: gates,
    webhook: {
      service: 'capi-webhook-service',
      secret: 'capi-webhook-service-cert',
      probe: {
        name: 'validation.cluster.cluster.x-k8s.io',
        object: {
          apiVersion: 'cluster.x-k8s.io/v1beta2',
          kind: 'Cluster',
          metadata: { name: probeName, namespace: clustersNamespace },
          spec: {
            clusterNetwork: { pods: { cidrBlocks: ['no CIDR'] } },
            infrastructureRef: { ...nowhere, kind: 'BKECluster' },
          },
        },
      },
    },
  },
  {
    name: 'bootstrap-kubeadm',
    providerName: 'kubeadm',
    type: 'BootstrapProvider',
    namespace: 'capi-kubeadm-bootstrap-system',
    title: 'kubeadm bootstrap provider',
    deployment: 'capi-kubeadm-bootstrap-controller-manager',
    file: 'cluster-api-bootstrap-kubeadm',
    image: 'registry.k8s.io/cluster-api/kubeadm-bootstrap-controller',
    featureGates: { ReconcilerRateLimiting: false },
    webhook: {
      service: 'capi-kubeadm-bootstrap-webhook-service',
      secret: 'capi-kubeadm-bootstrap-webhook-service-cert',
      probe: {
        name: 'validation.kubeadmconfig.bootstrap.cluster.x-k8s.io',
        object: {
          apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
          kind: 'KubeadmConfig',
          metadata: { name: probeName, namespace: clustersNamespace },
          spec: {
            files: [
              { path: '/twice', content: 'a' },
              { path: '/twice', content: 'b' },
            ],
          },
        },
      },
    },
  },
  {
    name: 'control-plane-kubeadm',
    providerName: 'kubeadm',
    type: 'ControlPlaneProvider',
    namespace: 'capi-kubeadm-control-plane-system',
    title: 'kubeadm control plane provider',
    deployment: 'capi-kubeadm-control-plane-controller-manager',
    file: 'cluster-api-control-plane-kubeadm',
    image: 'registry.k8s.io/cluster-api/kubeadm-control-plane-controller',
    featureGates: gates,
    webhook: {
      service: 'capi-kubeadm-control-plane-webhook-service',
      secret: 'capi-kubeadm-control-plane-webhook-service-cert',
      probe: {
        name: 'validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io',
        object: {
          apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
          kind: 'KubeadmControlPlane',
          metadata: { name: probeName, namespace: clustersNamespace },
          spec: {
            // Even, with etcd on the control plane.
            replicas: 2,
            version: 'v1.36.0',
            machineTemplate: { spec: { infrastructureRef: { ...nowhere, kind: 'BKEMachineTemplate' } } },
          },
        },
      },
    },
  },
  {
    name: 'infrastructure-bke',
    providerName: 'bke',
    type: 'InfrastructureProvider',
    namespace: systemNamespace,
    title: "bke's provider",
    deployment: 'bke-controller-manager',
    image: 'bke.io/bke',
    featureGates: {},
  },
];
