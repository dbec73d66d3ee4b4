// What every TLS connection of bke trusts, said outright: nothing in the environment may switch verification off or add to it.
import { getCACertificates } from 'node:tls';

export interface TlsTrust {
  readonly rejectUnauthorized: true;
  readonly minVersion: 'TLSv1.2';
  readonly ca: string[];
}

/** @param ca PEM certificates to trust and no others; undefined: the public ones built in and the machine's own. */
export function tlsTrust(ca: readonly string[] = publicCertificates()): TlsTrust {
  return { rejectUnauthorized: true, minVersion: 'TLSv1.2', ca: [...ca] };
}

let known: readonly string[] | undefined;

/** Those built in (Mozilla's) and those of the machine's store, in PEM, each once. */
export function publicCertificates(): readonly string[] {
  // Not 'default': that has what NODE_EXTRA_CA_CERTS names.
  known ??= [...new Set([...getCACertificates('bundled'), ...getCACertificates('system')])];
  return known;
}
