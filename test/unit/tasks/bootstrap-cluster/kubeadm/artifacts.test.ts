import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../../../../src/release/catalogue.ts';
import { kubeadmArtifacts, missingForKubeadm } from '../../../../../src/tasks/bootstrap-cluster/kubeadm/artifacts.ts';

const platform = 'linux/amd64';
const digest = `sha256:${'0'.repeat(64)}` as const;

function file(name: string, version: string, type: 'binary' | 'manifest' = 'binary'): Catalogue['files'][number] {
  return { name, version, type, variants: { [platform]: { path: `${name}/${version}`, digest, size: 1 } } };
}

function image(ref: string): Catalogue['images'][number] {
  return { name: ref, ref, digest, platforms: { [platform]: digest } };
}

const catalogue: Catalogue = {
  name: 'r',
  version: '1',
  kubernetesVersions: ['v1.36.3'],
  files: [
    ...['v1.35.7', 'v1.36.3'].flatMap((version) =>
      ['kubeadm', 'kubelet', 'kubectl'].map((name) => file(name, version)),
    ),
    file('flannel', 'v0.27.4', 'manifest'),
  ],
  images: [
    ...['v1.35.7', 'v1.36.3'].flatMap((tag) =>
      ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'].map((name) =>
        image(`registry.k8s.io/${name}:${tag}`),
      ),
    ),
    image('registry.k8s.io/etcd:3.6.6-0'),
    image('registry.k8s.io/etcd:3.6.8-0'),
    image('registry.k8s.io/coredns/coredns:v1.14.2'),
    image('ghcr.io/flannel-io/flannel:v0.27.4'),
    image('ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0-flannel1'),
  ],
  charts: [],
};

describe('what a cluster by kubeadm is made of', () => {
  it('is the newest Kubernetes of the release, and the newest of what has versions of its own', () => {
    expect(missingForKubeadm({ catalogue, platform })).toEqual([]);
    const artifacts = kubeadmArtifacts({ catalogue, platform });
    expect(artifacts).toMatchObject({ version: 'v1.36.3', etcdTag: '3.6.8-0', corednsTag: 'v1.14.2' });
    expect(artifacts.programs.kubelet.path).toBe('kubelet/v1.36.3');
    expect(artifacts.images).toEqual([
      'registry.k8s.io/kube-apiserver:v1.36.3',
      'registry.k8s.io/kube-controller-manager:v1.36.3',
      'registry.k8s.io/kube-scheduler:v1.36.3',
      'registry.k8s.io/kube-proxy:v1.36.3',
      'registry.k8s.io/etcd:3.6.8-0',
      'registry.k8s.io/coredns/coredns:v1.14.2',
    ]);
  });

  it('is told whole where it is missing', () => {
    expect(missingForKubeadm({ catalogue: { ...catalogue, files: [] }, platform })).toEqual(['program kubeadm']);
    const files = catalogue.files.filter(({ name, version }) => name === 'kubeadm' || version === 'v1.35.7');
    const images = catalogue.images.filter(({ ref }) => /v1\.35\.7|scheduler|coredns/.test(ref));
    expect(missingForKubeadm({ catalogue: { ...catalogue, files, images }, platform })).toEqual([
      'program kubelet v1.36.3',
      'program kubectl v1.36.3',
      'image registry.k8s.io/kube-apiserver:v1.36.3',
      'image registry.k8s.io/kube-controller-manager:v1.36.3',
      'image registry.k8s.io/kube-proxy:v1.36.3',
      'image registry.k8s.io/etcd',
      'image ghcr.io/flannel-io/flannel',
      'image ghcr.io/flannel-io/flannel-cni-plugin',
      'manifest flannel',
    ]);
  });

  it('is of the platform of the host', () => {
    expect(missingForKubeadm({ catalogue, platform: 'linux/arm64' })).toEqual(['program kubeadm']);
  });
});
