// The part of kubeadm's configuration that Cluster API carries. Settings of kubelet, kube-proxy and containerd, and what differs between
// hosts (labels, taints, whether a control plane takes pods), go to the node by bke itself (docs/guide/cluster-yaml.md).
import type { ClusterConfig } from '../../config/cluster/config.ts';

/** Tags of images where they differ from those of kubeadm; e.g. of builds of one's own. */
export interface ImageTags {
  readonly etcd?: string;
  readonly coredns?: string;
}

/** Filled in by the agent on the host, which knows its own name and address: no default route is needed. */
const hostName = '{{ ds.meta_data.local_hostname }}';
const hostAddress = '{{ ds.meta_data.local_ipv4 }}';

const criSocket = 'unix:///run/containerd/containerd.sock';

export function controlPlaneConfig(config: ClusterConfig, images: ImageTags): object {
  const localAPIEndpoint = { advertiseAddress: hostAddress, bindPort: bindPort(config) };
  const registration = nodeRegistration(config);
  return {
    clusterConfiguration: {
      apiServer: { certSANs: [config.controlPlaneEndpoint.host] },
      ...(images.coredns === undefined ? {} : { dns: { imageTag: images.coredns } }),
      ...(images.etcd === undefined ? {} : { etcd: { local: { imageTag: images.etcd } } }),
    },
    initConfiguration: { localAPIEndpoint, nodeRegistration: registration },
    joinConfiguration: { controlPlane: { localAPIEndpoint }, nodeRegistration: registration },
  };
}

export function workerConfig(config: ClusterConfig): object {
  return { joinConfiguration: { nodeRegistration: nodeRegistration(config) } };
}

/** Port of every API server. A load balancer elsewhere may listen on another one. */
export function bindPort({ loadBalancer, controlPlaneEndpoint }: ClusterConfig): number {
  return loadBalancer === 'external' ? 6443 : controlPlaneEndpoint.port;
}

function nodeRegistration({ settings }: ClusterConfig): object {
  const { ignorePreflightErrors } = settings.kubeadm;
  return {
    name: hostName,
    criSocket,
    imagePullPolicy: 'IfNotPresent',
    kubeletExtraArgs: [{ name: 'node-ip', value: hostAddress }],
    ...(ignorePreflightErrors.length === 0 ? {} : { ignorePreflightErrors }),
  };
}
