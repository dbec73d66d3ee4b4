// Where the cluster's API server is reached: one control plane's own address, a virtual IP, or a load balancer elsewhere.
import { isIP } from 'node:net';
import { isGlobalAddress } from '../../lib/address.ts';
import {
  nodePortRange,
  portsOfControlPlane,
  portsOfEtcd,
  portsOfNodes,
  type UsedPort,
} from '../../lib/kubernetes-ports.ts';
import type { Finding } from '../read-yaml.ts';
import type { ClusterSketch, HostSketch } from './sketch.ts';

const endpointPath = ['spec', 'controlPlaneEndpoint'];
const hostPath = [...endpointPath, 'host'];

export function endpointFindings(sketch: ClusterSketch): Finding[] {
  return [...hostFindings(sketch), ...portFindings(sketch)];
}

function hostFindings(sketch: ClusterSketch): Finding[] {
  const { endpoint, loadBalancer, hosts, rolesKnown } = sketch;
  const controlPlanes = hosts.filter(({ roles }) => roles?.includes('control-plane') === true);
  if (endpoint.host === undefined) return withoutHost(sketch, controlPlanes);
  const owner = hosts.find((host) => isAddressOf(host, endpoint.host));
  if (loadBalancer === 'keepalived') return virtualIp(endpoint.host, owner);
  if (loadBalancer === 'external') return external(endpoint.host, owner);
  if (!rolesKnown) return [];
  return ownAddress(endpoint.host, owner, controlPlanes);
}

function isAddressOf({ address, nodeIP }: HostSketch, wanted: string | undefined): boolean {
  return address === wanted || nodeIP === wanted;
}

function withoutHost({ loadBalancer, rolesKnown }: ClusterSketch, controlPlanes: readonly HostSketch[]): Finding[] {
  if (loadBalancer !== undefined) {
    const what = loadBalancer === 'keepalived' ? 'its virtual IP' : 'its address';
    return [{ path: ['spec', 'loadBalancer'], message: `needs controlPlaneEndpoint.host: ${what}` }];
  }
  if (!rolesKnown || controlPlanes.length <= 1) return [];
  const message = `is needed with ${controlPlanes.length} control planes: host with an unused address and loadBalancer: keepalived, or that of a load balancer of yours and loadBalancer: external`;
  return [{ path: endpointPath, message }];
}

function virtualIp(host: string, owner: HostSketch | undefined): Finding[] {
  if (isIP(host) !== 4)
    return [{ path: hostPath, message: `${host} must be an IPv4 address: keepalived moves it between hosts` }];
  if (!isGlobalAddress(host)) return [{ path: hostPath, message: `${host} cannot be reached from other machines` }];
  if (owner === undefined) return [];
  const message = `${host} is the address of ${nameOf(owner)}: keepalived needs one that no machine has`;
  return [{ path: hostPath, message }];
}

function external(host: string, owner: HostSketch | undefined): Finding[] {
  if (owner?.roles?.includes('control-plane') !== true) return [];
  const message = `${host} is the address of the control plane ${nameOf(owner)}, and loadBalancer says that it is a load balancer elsewhere`;
  return [{ path: hostPath, message }];
}

function ownAddress(host: string, owner: HostSketch | undefined, controlPlanes: readonly HostSketch[]): Finding[] {
  if (owner === undefined) {
    // With one control plane nothing has to move: the address can only be of something that is there already.
    if (controlPlanes.length <= 1) return [];
    const message = `${host} is no host of this cluster: say by loadBalancer whether bke puts it up (keepalived) or it is there already (external)`;
    return [{ path: hostPath, message }];
  }
  if (owner.roles?.includes('control-plane') !== true) {
    return [{ path: hostPath, message: `${host} is the address of ${nameOf(owner)}, which is no control plane` }];
  }
  if (controlPlanes.length <= 1) return [];
  const message = `${host} is ${nameOf(owner)} alone: with ${controlPlanes.length} control planes it must be an unused address with loadBalancer: keepalived, or that of a load balancer with loadBalancer: external`;
  return [{ path: hostPath, message }];
}

/** The API server's port is one that nothing else of the machines behind the endpoint has. */
function portFindings(sketch: ClusterSketch): Finding[] {
  const { endpoint, loadBalancer, hosts } = sketch;
  const { port } = endpoint;
  if (port === undefined) return [];
  const external = loadBalancer === 'external';
  const behind = hosts.filter((host) =>
    external ? isAddressOf(host, endpoint.host) : host.roles?.includes('control-plane') === true,
  );
  // A load balancer that is no host of the cluster may listen wherever it likes.
  if (external && behind.length === 0) return [];
  const use = useOf(port, external ? portsOfNodes : [...portsOfNodes, ...portsOfControlPlane, ...portsOfEtcd]);
  const why = use ?? sshUse(port, behind, sketch);
  if (why === undefined) return [];
  const better = external ? 'choose another one' : 'choose another one, such as 6443';
  return [{ path: [...endpointPath, 'port'], message: `${port} ${why}: ${better}` }];
}

function useOf(port: number, used: readonly UsedPort[]): string | undefined {
  const found = used.find(([taken]) => taken === port);
  if (found !== undefined) return `is taken on the host itself (${found[1]})`;
  const { first, last } = nodePortRange;
  return port >= first && port <= last
    ? `lies among ${first}-${last}, which Services of type NodePort take`
    : undefined;
}

/** Also the usual one: what is dialled may be forwarded to it. */
function sshUse(port: number, hosts: readonly HostSketch[], { defaultSsh }: ClusterSketch): string | undefined {
  const isTheirs = hosts.some(({ ssh }) => port === (ssh.port ?? defaultSsh.port));
  return port === usualSshPort || isTheirs ? 'is taken on the host itself (SSH)' : undefined;
}

const usualSshPort = 22;

function nameOf({ name, index }: HostSketch): string {
  return name ?? `hosts[${index}]`;
}
