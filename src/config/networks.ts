// Which blocks of addresses pods and services of a cluster may have: by their own form and size, and apart from each other.
import { type Cidr, overlaps, parseCidr } from '../lib/cidr.ts';
import { truncate } from '../lib/text.ts';

export interface ClusterNetworks {
  readonly podCIDR: string;
  readonly serviceCIDR: string;
}

export interface NetworkProblem {
  readonly field: keyof ClusterNetworks;
  readonly message: string;
}

interface Bounds {
  /** Shortest and longest prefix. */
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

/**
 * Of kubeadm's validation (cmd/kubeadm/app/apis/kubeadm/validation): every node takes a /24 of the pods' block, which may have at most 16 bits more
 * than that; services need 10 addresses and may have at most 20 bits.
 */
const bounds: Readonly<Record<keyof ClusterNetworks, Bounds>> = {
  podCIDR: { from: 8, to: 24, why: 'every node takes 256 addresses of it' },
  serviceCIDR: { from: 12, to: 28, why: 'Kubernetes takes no other sizes' },
};

/** No pod or service can be reached at these (RFC 6890, 1112): the kernel drops them or keeps them for itself. */
const unusable: readonly (readonly [block: string, what: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local addresses'],
  ['224.0.0.0/3', 'multicast and reserved addresses'],
];

/** @param given more the user's own word of the two: it is blamed where they overlap. */
export function networkProblems(networks: ClusterNetworks, given: keyof ClusterNetworks): NetworkProblem[] {
  const pods = parseCidr(networks.podCIDR);
  const services = parseCidr(networks.serviceCIDR);
  const problems = [
    ...blockProblems('podCIDR', networks.podCIDR, pods),
    ...blockProblems('serviceCIDR', networks.serviceCIDR, services),
  ];
  if (pods === undefined || services === undefined || !overlaps(pods, services)) return problems;
  const [message, field] =
    given === 'podCIDR'
      ? [`${pods.text} overlaps with the services' ${services.text}`, 'podCIDR' as const]
      : [`${services.text} overlaps with the pods' ${pods.text}`, 'serviceCIDR' as const];
  return [...problems, { field, message }];
}

function blockProblems(field: keyof ClusterNetworks, text: string, block: Cidr | undefined): NetworkProblem[] {
  if (text.includes(','))
    return [{ field, message: `${truncate(text, 60)} is more than one block, and one of IPv4 is supported here` }];
  if (block === undefined)
    return [
      {
        field,
        message: `${text === '' ? 'an empty text' : truncate(text, 40)} is no block of addresses like 10.96.0.0/16`,
      },
    ];
  if (block.version !== 4) return [{ field, message: `${text} is IPv6, and only IPv4 is supported here` }];
  if (block.text !== text) return [{ field, message: `write ${block.text} instead of ${text}` }];
  const { from, to, why } = bounds[field];
  if (block.prefix > to) return [{ field, message: `${text} is too small: /${to} or more, since ${why}` }];
  if (block.prefix < from) return [{ field, message: `${text} is too large: /${from} at most` }];
  const special = unusable.find(([other]) => hasAddressOf(block, other));
  return special === undefined
    ? []
    : [{ field, message: `${text} cannot be used: ${special[0]} is for ${special[1]}` }];
}

function hasAddressOf(block: Cidr, other: string): boolean {
  const parsed = parseCidr(other);
  return parsed !== undefined && overlaps(block, parsed);
}
