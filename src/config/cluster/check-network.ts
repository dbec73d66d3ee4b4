// Blocks of addresses of pods and services: right by themselves, and apart from every address the cluster needs.
import { type Cidr, contains, parseCidr } from '../../lib/cidr.ts';
import { plural } from '../../lib/text.ts';
import { networkProblems } from '../networks.ts';
import type { Finding } from '../read-yaml.ts';
import { defaultNetwork } from './defaults.ts';
import type { ClusterSketch } from './sketch.ts';

/** Bits of a node's share of the pods' block (kube-controller-manager, --node-cidr-mask-size). */
const nodePrefix = 24;

export function networkFindings(sketch: ClusterSketch): Finding[] {
  const { network } = sketch;
  const networks = {
    podCIDR: network.podCIDR ?? defaultNetwork.podCIDR,
    serviceCIDR: network.serviceCIDR ?? defaultNetwork.serviceCIDR,
  };
  const own = networkProblems(networks, network.serviceCIDR === undefined ? 'podCIDR' : 'serviceCIDR');
  const blocks = [
    { field: 'podCIDR', what: 'the block of the pods', block: parseCidr(networks.podCIDR) },
    { field: 'serviceCIDR', what: 'the block of the services', block: parseCidr(networks.serviceCIDR) },
  ];
  return [
    ...own.map(({ field, message }) => ({ path: ['spec', 'network', field], message })),
    ...roomFindings(sketch, blocks[0]?.block),
    ...addressesOf(sketch).flatMap(({ address, path, whose }) =>
      blocks.flatMap(({ block, what }) =>
        block !== undefined && contains(block, address)
          ? [{ path, message: `${address}${whose} lies in ${what}, ${block.text}` }]
          : [],
      ),
    ),
  ];
}

function roomFindings({ hosts }: ClusterSketch, pods: Cidr | undefined): Finding[] {
  if (pods === undefined || pods.prefix > nodePrefix) return [];
  const room = 2 ** (nodePrefix - pods.prefix);
  if (hosts.length <= room) return [];
  const message = `${pods.text} has room for ${plural(room, 'node')} (each takes a /${nodePrefix}), and there are ${hosts.length} hosts`;
  return [{ path: ['spec', 'network', 'podCIDR'], message }];
}

interface Named {
  readonly address: string;
  readonly path: Finding['path'];
  readonly whose: string;
}

function addressesOf({ hosts, endpoint, registry, ntp }: ClusterSketch): Named[] {
  const named: (Omit<Named, 'address'> & { readonly address: string | undefined })[] = [
    ...hosts.flatMap(({ address, nodeIP, name, index }) =>
      Object.entries({ address, nodeIP }).map(([field, value]) => ({
        address: value,
        path: ['spec', 'hosts', index, field],
        whose: name === undefined ? '' : ` of ${name}`,
      })),
    ),
    { address: endpoint.host, path: ['spec', 'controlPlaneEndpoint', 'host'], whose: '' },
    { address: registry.host, path: ['spec', 'registry', 'host'], whose: '' },
    ...ntp.map((address, index) => ({ address, path: ['spec', 'ntp', index], whose: '' })),
  ];
  return named.flatMap(({ address, ...rest }) => (address === undefined ? [] : [{ address, ...rest }]));
}
