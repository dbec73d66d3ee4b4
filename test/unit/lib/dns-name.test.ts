import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDnsName, isHostName, suggestHostName } from '../../../src/lib/dns-name.ts';

describe('names', () => {
  it.each(['n1', 'cp-1', 'cp1.site.example', 'a'])('%s is a host name', (name) => {
    expect(isHostName(name)).toBe(true);
  });

  it.each([
    ['Node_01', 'node-01'],
    ['NODE1', 'node1'],
    ['localhost', 'host-1'],
    ['localhost.localdomain', 'host-1'],
    ['a.', 'a'],
    ['12345', 'host-12345'],
    ['-a', 'a'],
    ['x'.repeat(64), 'x'.repeat(63)],
    ['', 'host-1'],
    ['10.0.0.1', 'host-10.0.0.1'],
  ])('%s is no host name, %s is', (name, suggestion) => {
    expect(isHostName(name)).toBe(false);
    expect(suggestHostName(name)).toBe(suggestion);
    expect(isHostName(suggestion)).toBe(true);
  });

  it('suggests a valid name for anything', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (name) => isHostName(suggestHostName(name))));
  });

  it('counts labels', () => {
    expect(isDnsName('deploy.bke.internal', 2)).toBe(true);
    expect(isDnsName('deploy', 2)).toBe(false);
  });
});
