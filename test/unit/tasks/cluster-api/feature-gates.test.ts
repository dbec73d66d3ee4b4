import { describe, expect, it } from 'vitest';
import { parseFeatureGates, withFeatureGates } from '../../../../src/tasks/cluster-api/feature-gates.ts';

const known = new Set(['MachinePool', 'ClusterTopology', 'RuntimeSDK']);

describe('feature gates of a manager', () => {
  it('are merged: what is wanted wins, what is not named stays', () => {
    const args = ['--leader-elect', '--feature-gates=MachinePool=true,ClusterTopology=false', '--v=2'];
    expect(withFeatureGates(args, { ClusterTopology: true, RuntimeSDK: true }, known)).toEqual([
      '--leader-elect',
      '--v=2',
      '--feature-gates=MachinePool=true,ClusterTopology=true,RuntimeSDK=true',
    ]);
  });

  it('are never passed to a manager that does not know them: it would not start', () => {
    expect(withFeatureGates(['--x'], { InPlaceUpdates: true }, known)).toEqual(['--x']);
    expect(withFeatureGates(['--x'], { InPlaceUpdates: true, RuntimeSDK: true }, known)).toEqual([
      '--x',
      '--feature-gates=RuntimeSDK=true',
    ]);
  });

  it('of several flags count together, as the manager itself reads them', () => {
    expect(
      parseFeatureGates(['--feature-gates=A=true,B=false', '--feature-gates=B=true, C=true', '--feature-gates=']),
    ).toEqual({
      A: true,
      B: true,
      C: true,
    });
  });

  it.each(['A', 'A=yes', '=true'])('are refused where they are none: %s', (gate) => {
    expect(() => parseFeatureGates([`--feature-gates=${gate}`])).toThrow(`${gate} is no feature gate`);
  });
});
