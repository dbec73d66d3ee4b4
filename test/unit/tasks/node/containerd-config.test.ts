import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { containerdConfig, crictlConfig, hostsToml } from '../../../../src/tasks/node/containerd-config.ts';
import { mirroredRegistries } from '../../../../src/tasks/node/registries.ts';

const options = {
  sandboxImage: 'registry.k8s.io/pause:3.10.2',
  systemdCgroup: true,
  runc: '/usr/local/libexec/bke/runc-v1.4.4/runc',
  settings: {},
};
const own = { registryHost: 'deploy.bke.internal:40443', ca: 'PEM' };
const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);

describe('files of containerd', () => {
  it('are exactly these', async () => {
    await expect(containerdConfig(options)).toMatchFileSnapshot(golden('config.toml'));
    await expect(hostsToml('registry.k8s.io', own)).toMatchFileSnapshot(golden('registry.k8s.io-hosts.toml'));
    await expect(hostsToml(own.registryHost, own)).toMatchFileSnapshot(golden('local-hosts.toml'));
    await expect(crictlConfig()).toMatchFileSnapshot(golden('crictl.yaml'));
  });

  it('name no server but the local registry, and never skip the check of its certificate', () => {
    const text = hostsToml('docker.io', own);
    expect(text).not.toContain('[host');
    expect(text).not.toContain('skip_verify');
    expect(text.match(/https:\/\/[^/']+/g)).toEqual(['https://deploy.bke.internal:40443']);
  });

  it('ask for images of a registry with a port where a load puts them', () => {
    expect(hostsToml('reg.site:5000', own)).toContain("'https://deploy.bke.internal:40443/v2/reg.site_5000'");
  });

  it('ask a registry of the user for what it has under other paths, with its CA or those that the host trusts', async () => {
    const registry = { registryHost: 'reg.example.org:443', rewrites: { 'docker.io': 'mirror/hub/' } };
    await expect(hostsToml('docker.io', { ...registry, ca: 'PEM' })).toMatchFileSnapshot(
      golden('own-registry-hosts.toml'),
    );
    const text = hostsToml('quay.io', registry);
    expect(text).toContain("'https://reg.example.org:443/v2/quay.io'");
    expect(text).not.toContain('ca =');
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
  it('adds those of the bundle to the common ones', () => {
    const names = mirroredRegistries(['reg.site/a/b:1', 'docker.io/library/nginx:1', 'quay.io/x/y:1']);
    expect(names).toContain('reg.site');
    expect(names.filter((name) => name === 'docker.io')).toHaveLength(1);
    expect(names).toEqual(names.toSorted());
  });
});
