import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../../src/release/catalogue.ts';

describe('versions of a release', () => {
  it.each([
    ['v1.9.0', 'v1.10.0'],
    ['3.9', '3.10'],
    ['3.10', '3.10.2'],
    ['v1.14.0-rc.1', 'v1.14.0'],
    ['v1.14.0-rc.1', 'v1.14.0-rc.2'],
    ['v1.36.3+k3s1', 'v1.36.3+k3s2'],
    ['v1.36.3+k3s2', 'v1.37.0+k3s1'],
    ['3.6.1-0', '3.6.2-0'],
    ['edge', 'latest'],
  ])('go from %s up to %s', (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
  });
});
