import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPortRanges, parsePortRanges } from '../../../src/lib/port-ranges.ts';

describe('port ranges', () => {
  it("reads and writes the kernel's form", () => {
    expect(parsePortRanges('8080,9000-9002\n')).toEqual([8080, 9000, 9001, 9002]);
    expect(formatPortRanges([9002, 40_444, 9000, 9001, 40_443, 7])).toBe('7,9000-9002,40443-40444');
    expect(parsePortRanges('')).toEqual([]);
    expect(formatPortRanges([])).toBe('');
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 200 })), (ports) => {
        expect(parsePortRanges(formatPortRanges(ports))).toEqual(ports.toSorted((a, b) => a - b));
      }),
    );
  });

  it.each(['a', '5-', '9-5', '70000', '1,,x'])('refuses %s', (text) => {
    expect(() => parsePortRanges(text)).toThrow('not a port range');
  });
});
