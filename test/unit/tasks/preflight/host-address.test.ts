import { describe, expect, it } from 'vitest';
import { chooseHostAddress } from '../../../../src/tasks/preflight/host-address.ts';

describe('the address of a host', () => {
  it('is the source of the default route', () => {
    expect(chooseHostAddress({ defaultSource: '10.0.0.5', global: ['10.0.0.5', '10.1.0.5'] })).toBe('10.0.0.5');
  });

  it('is the only one there is, where no route leads out', () => {
    expect(chooseHostAddress({ defaultSource: undefined, global: ['10.0.0.5'] })).toBe('10.0.0.5');
  });

  it('is never guessed', () => {
    expect(() => chooseHostAddress({ defaultSource: undefined, global: ['10.0.0.5', '10.1.0.5'] })).toThrow(
      'this host has no default route and several addresses: 10.0.0.5, 10.1.0.5',
    );
    expect(() => chooseHostAddress({ defaultSource: undefined, global: [] })).toThrow(
      'no address that others can reach',
    );
  });
});
