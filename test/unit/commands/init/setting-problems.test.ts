import { describe, expect, it } from 'vitest';
import { settingProblems } from '../../../../src/commands/init/setting-problems.ts';
import { type BootstrapChoice, defaultPorts, effectiveSettings, type Ports } from '../../../../src/config/bootstrap.ts';
import { nodePorts } from '../../../../src/tasks/preflight/kubernetes-ports.ts';

function problems(bootstrap: BootstrapChoice, ports: Partial<Ports>): string[] {
  const layers = [{ source: 'option', bootstrap, ports }];
  return settingProblems(layers, effectiveSettings(layers, [])).map((problem) => Object.values(problem).join(' | '));
}

describe('ports of Kubernetes', () => {
  it.each(nodePorts(1, false).filter(({ port }) => port !== 1))('$port is none for something else', ({ port, use }) => {
    expect(problems('kubeadm', { kubernetes: port })).toEqual([
      `option | ports.kubernetes | ${port} is a port of ${use}`,
    ]);
    expect(problems('none', { kubernetes: port })).toEqual([]);
  });

  it('is each told', () => {
    expect(problems('kubeadm', { registry: 2379, files: 10_256 })).toEqual([
      'option | ports.files | 10256 is a port of kube-proxy, health',
      'option | ports.registry | 2379 is a port of etcd, clients',
    ]);
  });

  it('of K3s follow its API port, which is blamed where it was chosen', () => {
    const { registry } = defaultPorts;
    expect(problems('k3s', { kubernetes: registry - 1 })).toEqual([
      `option | ports.kubernetes | ${registry}, the port after it, is also ports.registry: K3s takes both`,
    ]);
    expect(problems('k3s', { kubernetes: 6443, registry: 6444 })).toEqual([
      'option | ports.registry | 6444 is a port of K3s, API server',
      'option | ports.registry | 6444 is a port of K3s, load balancer',
    ]);
  });

  it('are not among the defaults', () => {
    for (const kind of ['k3s', 'kubeadm'] as const) expect(problems(kind, {})).toEqual([]);
  });
});
