// A cluster as Kubernetes resources: pure, so that what will be applied can be shown, compared and proven to be in a bundle beforehand.
import type { BKEClusterSpec } from '../../api/kinds/bke-cluster.ts';
import type { ClusterConfig, RegistryConfig } from '../../config/cluster/config.ts';
import type { KubeObject } from '../../kube/client.ts';
import { hostResource } from './hosts.ts';
import { bindPort, type ImageTags } from './kubeadm.ts';
import {
  controlPlaneVersion,
  coreLabels,
  coreVersion,
  infrastructureVersion,
  poolName,
  reference,
  registrySecretName,
} from './names.ts';
import { controlPlaneResources, workerResources } from './pools.ts';
import { registrySecret, type SecretResolver, sshSecret } from './secrets.ts';

export interface RenderOptions {
  readonly resolve: SecretResolver;
  /** PEM of the registry's CA, where it has one of its own. */
  readonly registryCa?: string;
  readonly images?: ImageTags;
}

/** In the order in which they are applied: what others refer to comes first. */
export function renderCluster(config: ClusterConfig, options: RenderOptions): KubeObject[] {
  const registry = registrySecret(config, options.resolve);
  const hosts = config.hosts.flatMap((host) => {
    const secret = sshSecret(host, config, options.resolve);
    return [...(secret === undefined ? [] : [secret]), hostResource(host, config, secret !== undefined)];
  });
  return [
    ...(registry === undefined ? [] : [registry]),
    ...hosts,
    bkeCluster(config, options.registryCa),
    ...controlPlaneResources(config, options.images ?? {}),
    cluster(config),
    ...workerResources(config),
  ];
}

function cluster(config: ClusterConfig): KubeObject {
  const { name, namespace, network } = config;
  return {
    apiVersion: coreVersion,
    kind: 'Cluster',
    metadata: { name, namespace, labels: { [coreLabels.cluster]: name } },
    spec: {
      clusterNetwork: {
        apiServerPort: bindPort(config),
        pods: { cidrBlocks: [network.podCIDR] },
        services: { cidrBlocks: [network.serviceCIDR] },
        serviceDomain: network.dnsDomain,
      },
      controlPlaneRef: reference(controlPlaneVersion, 'KubeadmControlPlane', poolName(config, 'control-plane')),
      infrastructureRef: reference(infrastructureVersion, 'BKECluster', name),
    },
  };
}

function bkeCluster(config: ClusterConfig, registryCa: string | undefined): KubeObject {
  const { name, namespace } = config;
  return {
    apiVersion: infrastructureVersion,
    kind: 'BKECluster',
    metadata: { name, namespace, labels: { [coreLabels.cluster]: name } },
    spec: bkeClusterSpec(config, registryCa),
  };
}

/** @param registryCa PEM */
export function bkeClusterSpec(config: ClusterConfig, registryCa?: string): BKEClusterSpec {
  const { controlPlaneEndpoint, loadBalancer, network, management, ntp, addons, registry } = config;
  return {
    controlPlaneEndpoint,
    ...(loadBalancer === undefined ? {} : { loadBalancer }),
    cni: network.cni,
    ...(management ? { management } : {}),
    ...(registry === undefined ? {} : { registry: registrySpec(config, registry, registryCa) }),
    ...(ntp === undefined ? {} : { ntp: [...ntp] }),
    ...settingsField(config),
    ...(addons.length === 0
      ? {}
      : { addons: addons.map(({ values, ...addon }) => ({ ...addon, ...mapping('values', values) })) }),
  };
}

function registrySpec(
  config: ClusterConfig,
  { host, port, username, rewrites }: RegistryConfig,
  ca: string | undefined,
): NonNullable<BKEClusterSpec['registry']> {
  return {
    host,
    port,
    ...(ca === undefined ? {} : { ca }),
    ...(username === undefined ? {} : { secretRef: { name: registrySecretName(config) } }),
    ...mapping('rewrites', rewrites),
  };
}

/** kubeadm's own settings are in KubeadmConfig. */
function settingsField({ settings }: ClusterConfig): Pick<BKEClusterSpec, 'settings'> {
  const { kubelet, kubeProxy, containerd, ignoreChecks } = settings;
  const found = {
    ...mapping('kubelet', kubelet),
    ...mapping('kubeProxy', kubeProxy),
    ...mapping('containerd', containerd),
    ...(ignoreChecks.length === 0 ? {} : { ignoreChecks: [...ignoreChecks] }),
  };
  return Object.keys(found).length === 0 ? {} : { settings: found };
}

/** Nothing for an empty one. */
function mapping<Name extends string, Value extends object>(name: Name, value: Value): { [Field in Name]?: Value } {
  // oxlint-disable-next-line no-unsafe-type-assertion -- a computed key loses its literal type
  return (Object.keys(value).length === 0 ? {} : { [name]: value }) as { [Field in Name]?: Value };
}
