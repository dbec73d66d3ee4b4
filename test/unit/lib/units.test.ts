// What every unit that bke writes has in common.
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const units = globSync('assets/**/*.service', { cwd: root.pathname });

describe('a unit of bke', () => {
  it('is one of these', () => {
    expect(units.toSorted()).toEqual([
      'assets/containerd/containerd.service',
      'assets/k3s/k3s.service',
      'assets/kubelet/kubelet.service',
      'assets/units/bke-agent.service',
      'assets/units/bke-files.service',
      'assets/units/bke-registry-push.service',
      'assets/units/bke-registry.service',
    ]);
  });

  it.each(units)('%s takes no proxy from the system', (unit) => {
    const text = readFileSync(new URL(unit, root), 'utf8');
    const unset = /^UnsetEnvironment=(.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'])
      expect(unset).toEqual(expect.arrayContaining([name, name.toLowerCase()]));
  });
});
