import { describe, expect, it } from 'vitest';
import { refuseIncomplete } from '../../../../src/commands/init/content.ts';
import type { BootstrapChoice } from '../../../../src/config/bootstrap.ts';
import type { Catalogue } from '../../../../src/release/catalogue.ts';

const digest = `sha256:${'0'.repeat(64)}` as const;
const variants = { 'linux/amd64': { path: 'x', digest, size: 1 } };
const file = (name: string, type: 'binary' | 'archive' = 'binary') => ({ name, version: 'v1.0.0', type, variants });
const image = (ref: string) => ({ name: ref, ref, digest, platforms: { 'linux/amd64': digest } });
const small: Catalogue = {
  name: 'small',
  version: '1',
  kubernetesVersions: [],
  files: [
    file('registry'),
    file('containerd', 'archive'),
    file('runc'),
    file('crictl'),
    file('cni-plugins', 'archive'),
  ],
  images: [image('registry.k8s.io/pause:3.10')],
  charts: [],
};

function check(bootstrap: BootstrapChoice, { path, ...change }: Partial<Catalogue> & { path?: string } = {}): void {
  const catalogue = { ...small, ...change };
  const { name, version } = catalogue;
  const bundle = { name, version, digest, signature: 'trusted' as const, kubernetesVersions: [] };
  refuseIncomplete({ bundle, catalogue }, { path, platform: 'linux/amd64', bootstrap, bkeVersion: '0.1.0' });
}
const refusal = (...of: Parameters<typeof check>): unknown => {
  try {
    return check(...of);
  } catch (thrown) {
    return thrown;
  }
};

describe('what a bundle has, or what was loaded before,', () => {
  it('is enough for the local services', () => {
    expect(refusal('none')).toBeUndefined();
  });

  it('is refused for a cluster with everything that it lacks, and the ways out', () => {
    expect(refusal('kubeadm')).toMatchObject({
      code: 'BKE_ARTIFACT_MISSING',
      message: 'what was loaded before (small 1) lacks, for a bootstrap cluster by kubeadm on linux/amd64:',
      details: expect.arrayContaining(['program kubeadm', expect.stringContaining('cluster-api-core')]),
      hint: expect.stringContaining('--bootstrap none'),
    });
    expect(refusal('k3s', { path: '/b.tar' })).toMatchObject({
      message: '/b.tar lacks, for a bootstrap cluster by k3s on linux/amd64:',
      details: expect.arrayContaining(['binary k3s', expect.stringContaining('cluster-api-core')]),
      hint: expect.stringContaining('--bootstrap kubeadm'),
    });
  });

  it('names programs of the services too', () => {
    expect(refusal('none', { files: [] })).toMatchObject({
      details: ['program registry', 'program containerd', 'program runc', 'program crictl', 'program cni-plugins'],
    });
  });
});
