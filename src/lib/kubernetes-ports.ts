// TCP ports that Kubernetes' own programs listen on, wherever they run (https://kubernetes.io/docs/reference/networking/ports-and-protocols/).

export type UsedPort = readonly [port: number, use: string];

/** The kubelet and kube-proxy. */
export const portsOfNodes: readonly UsedPort[] = [
  [10_248, 'kubelet, health'],
  [10_249, 'kube-proxy, metrics'],
  [10_250, 'kubelet'],
  [10_256, 'kube-proxy, health'],
];

export const portsOfControlPlane: readonly UsedPort[] = [
  [10_257, 'kube-controller-manager'],
  [10_259, 'kube-scheduler'],
];

export const portsOfEtcd: readonly UsedPort[] = [
  [2379, 'etcd, clients'],
  [2380, 'etcd, members'],
  [2381, 'etcd, metrics'],
];

/** What Services of type NodePort take on every node, unless the API server is told otherwise. */
export const nodePortRange = { first: 30_000, last: 32_767 } as const;
