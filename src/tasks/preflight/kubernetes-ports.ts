// The ports that Kubernetes' own programs listen on beside the API server's, whether one can choose them or not.
import { portsOfControlPlane, portsOfEtcd, portsOfNodes, type UsedPort } from '../../lib/kubernetes-ports.ts';
import type { PortNeed } from './check.ts';

/** Those that other nodes connect to. */
const reached = new Set([10_250, 2379, 2380]);

/** @param apiPort of the API server; K3s lets its own API server listen on the next one, behind the port that is asked for. */
export function kubernetesPorts(kind: 'k3s' | 'kubeadm', apiPort: number): PortNeed[] {
  const ofK3s: readonly UsedPort[] = [
    [apiPort + 1, 'K3s, API server'],
    [6444, 'K3s, load balancer'],
    [10_010, 'K3s, container streams'],
    [10_258, 'K3s, cloud controller'],
  ];
  const all = [...portsOfNodes, ...portsOfControlPlane, ...(kind === 'k3s' ? ofK3s : portsOfEtcd)];
  return all.map(([port, use]) => ({ port, use, fixed: true }));
}

/** Of one node among others, made by kubeadm. @param apiPort undefined: no control plane. */
export function nodePorts(apiPort: number | undefined, vxlan: boolean): PortNeed[] {
  const fixed = apiPort === undefined ? portsOfNodes : [...portsOfNodes, ...portsOfControlPlane, ...portsOfEtcd];
  return [
    ...(apiPort === undefined ? [] : [{ port: apiPort, use: 'API server', open: true }]),
    ...fixed.map(([port, use]) => ({ port, use, fixed: true, open: reached.has(port) })),
    ...(vxlan ? [{ port: 8472, use: 'network of pods', protocol: 'udp' as const, fixed: true, open: true }] : []),
  ];
}
