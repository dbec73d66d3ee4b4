import { describe, expect, it } from 'vitest';
import { overlaps, parseCidr } from '../../../src/lib/cidr.ts';

describe('a block of addresses', () => {
  it.each([
    ['10.96.0.0/16', '10.96.0.0/16'],
    ['10.96.7.1/16', '10.96.0.0/16'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['FD00:0:0::1/64', 'fd00::/64'],
    ['::ffff:10.0.0.1/128', '::ffff:a00:1/128'],
    ['2001:db8::/32', '2001:db8::/32'],
  ])('%s is read as %s', (given, text) => {
    expect(parseCidr(given)?.text).toBe(text);
  });

  it.each(['', '10.0.0.0', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/08', '10.0.0.0/8/8', '::/129', 'x/8', '10.0.0.0/-1'])(
    '%j is none',
    (given) => {
      expect(parseCidr(given)).toBeUndefined();
    },
  );

  it.each([
    ['10.0.0.0/8', '10.96.0.0/16', true],
    ['10.96.0.0/16', '10.0.0.0/8', true],
    ['10.96.0.0/16', '10.97.0.0/16', false],
    ['0.0.0.0/0', '10.0.0.1/32', true],
    ['0.0.0.0/0', '::/0', false],
    ['fd00::/48', 'fd00:0:0:1::/64', true],
    ['fd00::/48', 'fd00:0:1::/64', false],
  ])('%s and %s have addresses in common: %s', (a, b, expected) => {
    const [first, second] = [parseCidr(a), parseCidr(b)];
    expect(first !== undefined && second !== undefined && overlaps(first, second)).toBe(expected);
  });
});
