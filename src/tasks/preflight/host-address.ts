// Which address other hosts reach a host by, where nobody said.
import { BkeError } from '../../lib/errors.ts';

export interface HostAddresses {
  /** Source address of the default route; undefined where there is none. */
  readonly defaultSource: string | undefined;
  /** All addresses that other machines can reach. */
  readonly global: readonly string[];
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
