// What a cluster will need of each of its hosts, by the role that cluster.yaml gives it.
import { bindPort } from '../../cluster/render/kubeadm.ts';
import type { ClusterConfig, HostConfig } from '../../config/cluster/config.ts';
import type { HostNeeds } from './check.ts';
import { neededTools } from './needed-tools.ts';
import { nodePorts } from './kubernetes-ports.ts';

const gib = 1024 ** 3;

/** Programs, then images as containerd unpacks them: of Kubernetes itself and its network, not of what users will run. */
const nodeSpace: HostNeeds['space'] = [
  { path: '/usr/local/libexec/bke', bytes: gib, use: 'the programs' },
  { path: '/var/lib/containerd', bytes: 3 * gib, use: 'images' },
  { path: '/var/lib/kubelet', bytes: gib / 2, use: 'pods' },
];
/** etcd's default quota. */
const etcdSpace = { path: '/var/lib/etcd', bytes: 2 * gib, use: 'etcd' };

export function nodeSpaceOf(controlPlane: boolean): HostNeeds['space'] {
  return controlPlane ? [...nodeSpace, etcdSpace] : nodeSpace;
}

export function clusterHostNeeds(config: ClusterConfig, { name, nodeIP, roles }: HostConfig): HostNeeds {
  const controlPlane = roles.includes('control-plane');
  const vxlan = config.network.cni === 'flannel';
  const { failCgroupV1 } = config.settings.kubelet;
  return {
    ports: nodePorts(controlPlane ? bindPort(config) : undefined, vxlan),
    space: nodeSpaceOf(controlPlane),
    tools: neededTools(true),
    reachable: [],
    setsTime: (config.ntp ?? []).length > 0,
    runtime: true,
    kubernetes: {
      kind: 'kubeadm',
      version: config.kubernetesVersion,
      controlPlane,
      file: 'cluster.yaml',
      nodeName: name,
      nodeIP,
      vxlan,
      failCgroupV1: typeof failCgroupV1 === 'boolean' ? failCgroupV1 : undefined,
      networks: [
        { cidr: config.network.podCIDR, use: 'pods', given: 'spec.network.podCIDR' },
        { cidr: config.network.serviceCIDR, use: 'services', given: 'spec.network.serviceCIDR' },
      ],
    },
  };
}
