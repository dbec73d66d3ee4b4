// Blocks of addresses (RFC 4632): read, written in their one right form, and compared.
import { isIP } from 'node:net';

export interface Cidr {
  readonly version: 4 | 6;
  /** First address as a number. */
  readonly first: bigint;
  /** Bits of the network part. */
  readonly prefix: number;
  /** The block as it is written, host bits cleared: 10.96.0.0/16. */
  readonly text: string;
}

/** undefined where it is no `address/prefix`. Host bits are cleared; compare `text` to see whether there were any. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', digits = '', ...rest] = text.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const prefix = Number(digits);
  const bits = bitsOf(version);
  if (prefix > bits) return undefined;
  const hostBits = BigInt(bits - prefix);
  const first = (addressNumber(address, version) >> hostBits) << hostBits;
  return { version, first, prefix, text: `${addressText(first, version)}/${prefix}` };
}

/** Whether they have an address in common. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  if (a.version !== b.version) return false;
  const shift = BigInt(bitsOf(a.version) - Math.min(a.prefix, b.prefix));
  return a.first >> shift === b.first >> shift;
}

/** Whether an address, as it is written, lies in the block. */
export function contains(block: Cidr, address: string): boolean {
  const single = parseCidr(`${address}/${address.includes(':') ? 128 : 32}`);
  return single !== undefined && overlaps(block, single);
}

/** An address of the block by its place, e.g. 10 for 10.96.0.10 in 10.96.0.0/16. */
export function addressAt({ version, first }: Cidr, place: number): string {
  return addressText(first + BigInt(place), version);
}

function bitsOf(version: 4 | 6): number {
  return version === 4 ? 32 : 128;
}

function addressNumber(address: string, version: 4 | 6): bigint {
  const groups = version === 4 ? address.split('.').map(Number) : groupsOf(address);
  const width = version === 4 ? 8n : 16n;
  return groups.reduce((sum, group) => (sum << width) | BigInt(group), 0n);
}

/** The eight groups of an IPv6 address; an embedded IPv4 part makes the last two. */
function groupsOf(address: string): number[] {
  const plain = address.replace(/%.*/, '').replace(/\d+\.\d+\.\d+\.\d+$/, (embedded) => {
    const [a = 0, b = 0, c = 0, d = 0] = embedded.split('.').map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = plain.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [parse(head), parse(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function addressText(value: bigint, version: 4 | 6): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
  // The URL parser writes IPv6 addresses as RFC 5952 wants them.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1);
}
