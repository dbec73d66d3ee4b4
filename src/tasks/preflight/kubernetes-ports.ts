// The ports that Kubernetes' own programs listen on beside the API server's, whether one can choose them or not.
import type { PortNeed } from './check.ts';

/** The kubelet and kube-proxy on every node (https://kubernetes.io/docs/reference/networking/ports-and-protocols/). */
const onEveryNode: readonly (readonly [number, string])[] = [
  [10_248, 'kubelet, health'],
  [10_249, 'kube-proxy, metrics'],
  [10_250, 'kubelet'],
  [10_256, 'kube-proxy, health'],
];

const ofControlPlane: readonly (readonly [number, string])[] = [
  [10_257, 'kube-controller-manager'],
  [10_259, 'kube-scheduler'],
];

const ofEtcd: readonly (readonly [number, string])[] = [
  [2379, 'etcd, clients'],
  [2380, 'etcd, members'],
  [2381, 'etcd, metrics'],
];

/** Those that other nodes connect to. */
const reached = new Set([10_250, 2379, 2380]);

/** @param apiPort of the API server; K3s lets its own API server listen on the next one, behind the port that is asked for. */
export function kubernetesPorts(kind: 'k3s' | 'kubeadm', apiPort: number): PortNeed[] {
  const ofK3s: readonly (readonly [number, string])[] = [
    [apiPort + 1, 'K3s, API server'],
    [6444, 'K3s, load balancer'],
    [10_010, 'K3s, container streams'],
    [10_258, 'K3s, cloud controller'],
  ];
  const all = [...onEveryNode, ...ofControlPlane, ...(kind === 'k3s' ? ofK3s : ofEtcd)];
  return all.map(([port, use]) => ({ port, use, fixed: true }));
}

/** Of one node among others, made by kubeadm. @param apiPort undefined: no control plane. */
export function nodePorts(apiPort: number | undefined, vxlan: boolean): PortNeed[] {
  const fixed = apiPort === undefined ? onEveryNode : [...onEveryNode, ...ofControlPlane, ...ofEtcd];
  return [
    ...(apiPort === undefined ? [] : [{ port: apiPort, use: 'API server', open: true }]),
    ...fixed.map(([port, use]) => ({ port, use, fixed: true, open: reached.has(port) })),
    ...(vxlan ? [{ port: 8472, use: 'network of pods', protocol: 'udp' as const, fixed: true, open: true }] : []),
  ];
}
