import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containerdConfig, crictlConfig, hostsToml } from '../../../../src/tasks/node/containerd-config.ts';
import { mirroredRegistries, registryOf } from '../../../../src/tasks/node/registries.ts';

const options = {
  sandboxImage: 'registry.k8s.io/pause:3.10.2',
  systemdCgroup: true,
  runc: '/usr/local/libexec/bke/runc-v1.4.4/runc',
  settings: {},
};
const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);

describe('files of containerd', () => {
  it('are exactly these', async () => {
    await expect(containerdConfig(options)).toMatchFileSnapshot(golden('config.toml'));
    await expect(hostsToml('registry.k8s.io', 'deploy.bke.internal:40443')).toMatchFileSnapshot(
      golden('registry.k8s.io-hosts.toml'),
    );
    await expect(hostsToml('deploy.bke.internal:40443', 'deploy.bke.internal:40443')).toMatchFileSnapshot(
      golden('local-hosts.toml'),
    );
    await expect(crictlConfig()).toMatchFileSnapshot(golden('crictl.yaml'));
  });

  it('name no server but the local registry, and never skip the check of its certificate', () => {
    const text = hostsToml('docker.io', 'deploy.bke.internal:40443');
    expect(text).not.toContain('[host');
    expect(text).not.toContain('skip_verify');
    expect(text.match(/https:\/\/[^/']+/g)).toEqual(['https://deploy.bke.internal:40443']);
  });

  it("take the site's settings over ours", () => {
    const settings = {
      plugins: {
        'io.containerd.cri.v1.runtime': {
          restrict_oom_score_adj: true,
          containerd: { runtimes: { runc: { options: { SystemdCgroup: false } } } },
        },
      },
    };
    const text = containerdConfig({ ...options, settings });
    expect(text).toContain('restrict_oom_score_adj = true');
    expect(text).toContain('SystemdCgroup = false');
    expect(text).toContain("BinaryName = '/usr/local/libexec/bke/runc-v1.4.4/runc'");
  });
});

describe('registries of images', () => {
  it.each([
    ['nginx', 'docker.io'],
    ['library/nginx:1', 'docker.io'],
    ['docker.io/library/nginx', 'docker.io'],
    ['registry.k8s.io/pause:3.10.2', 'registry.k8s.io'],
    ['localhost/x', 'localhost'],
    ['reg:5000/x@sha256:00', 'reg:5000'],
    ['reg.site/a/b', 'reg.site'],
  ])('%s is of %s', (image, registry) => {
    expect(registryOf(image)).toBe(registry);
  });

  it('adds those of the bundle to the common ones', () => {
    const names = mirroredRegistries(['reg.site/a/b:1', 'nginx', 'quay.io/x/y']);
    expect(names).toContain('reg.site');
    expect(names.filter((name) => name === 'docker.io')).toHaveLength(1);
    expect(names).toEqual(names.toSorted());
  });
});
