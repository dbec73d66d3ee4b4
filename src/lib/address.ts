// Addresses of hosts and services: one parsed form, and every text form built from it.
import { isIP } from 'node:net';

/** `host:port`, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Whether an address can be reached from other machines: neither loopback nor link-local nor unspecified nor multicast. */
export function isGlobalAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !/^(0|127|169\.254|22[4-9]|23\d|24\d|25\d)\./.test(address);
  return version === 6 && !/^(::1?$|fe[89ab]|ff)/i.test(address);
}

/** Blocks that documentation takes its addresses from (RFC 5737, RFC 3849): no real host has one. */
export function isExampleAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return /^(192\.0\.2|198\.51\.100|203\.0\.113)\./.test(address);
  return version === 6 && /^2001:0?db8:/i.test(address);
}
