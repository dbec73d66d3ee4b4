// Which address other hosts reach a host by, where nobody said.
import type { HostFacts } from '../../host/facts/schema.ts';
import { isGlobalAddress } from '../../lib/address.ts';
import { BkeError } from '../../lib/errors.ts';

export interface HostAddresses {
  /** Address of the link that the default route goes out by; undefined where there is none. */
  readonly defaultSource: string | undefined;
  /** All addresses that other machines can reach. */
  readonly global: readonly string[];
}

/** Links of pod networks: their addresses are nobody's to reach the host by, and no network of the site. */
export const podLinks = /^(?:cni\d|cbr0|flannel|docker\d|cali|vxlan\.calico|veth|kube-|cilium|nodelocaldns)/;

export function addressesOf({ addresses, routes }: Pick<HostFacts, 'addresses' | 'routes'>): HostAddresses {
  const usable = addresses.filter(
    ({ address, scope, link }) => scope === 'global' && isGlobalAddress(address) && !podLinks.test(link),
  );
  // The route with the lowest metric is the one that is taken.
  const [route] = routes
    .filter(({ destination }) => destination === 'default')
    .sort((a, b) => (a.metric ?? 0) - (b.metric ?? 0));
  const out = usable.find(
    ({ link, family }) => link === route?.link && (family === 'inet6') === (route.via?.includes(':') === true),
  );
  return { defaultSource: out?.address, global: usable.map(({ address }) => address) };
}

/**
 * The source address of the default route, else the only address there is.
 * @throws BkeError BKE_HOST_ADDRESS_UNKNOWN naming the candidates.
 */
export function chooseHostAddress({ defaultSource, global }: HostAddresses): string {
  if (defaultSource !== undefined) return defaultSource;
  const [only, ...others] = global;
  if (only !== undefined && others.length === 0) return only;
  const why =
    only === undefined
      ? 'this host has no address that others can reach'
      : `this host has no default route and several addresses: ${global.join(', ')}`;
  throw new BkeError('BKE_HOST_ADDRESS_UNKNOWN', why, {
    hint:
      only === undefined
        ? 'Give it one, then run the same command again.'
        : `Choose one of them with --host-ip, e.g. --host-ip ${only}.`,
  });
}
