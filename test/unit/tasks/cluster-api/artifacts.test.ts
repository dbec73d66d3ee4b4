import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/lib/digest.ts';
import { catalogueSchema } from '../../../../src/release/catalogue.ts';
import type { Platform } from '../../../../src/release/platforms.ts';
import { missingForManagement, pinnedImage } from '../../../../src/tasks/cluster-api/artifacts.ts';

const digest = digestOf('x');
const names = ['cluster-api-core', 'cluster-api-bootstrap-kubeadm', 'cluster-api-control-plane-kubeadm'];
const images = ['cluster-api-controller', 'kubeadm-bootstrap-controller', 'kubeadm-control-plane-controller'];

interface Wanted {
  readonly without?: string;
  readonly platform?: Platform;
}

function source({ without = '', platform = 'linux/amd64' }: Wanted = {}) {
  const files = [...names, ...names.map((name) => `${name}-metadata`), 'clusterctl-crd'];
  const refs = [...images.map((name) => `registry.k8s.io/cluster-api/${name}:v1.14.2`), 'bke.io/bke:v0.1.0'];
  const catalogue = catalogueSchema.parse({
    name: 'r',
    version: '1',
    kubernetesVersions: [],
    files: files
      .filter((name) => name !== without)
      .map((name) => ({
        name,
        version: 'v1.14.2',
        type: 'manifest',
        variants: { 'linux/amd64': { path: name, digest, size: 1 } },
      })),
    images: refs
      .filter((ref) => ref !== without)
      .map((ref) => ({ name: 'i', ref, digest, platforms: { 'linux/amd64': digest } })),
    charts: [],
  });
  return { catalogue, platform, bkeVersion: '0.1.0' };
}

describe('what a release needs for the management', () => {
  it('is all there in a whole release', () => {
    expect(missingForManagement(source())).toEqual([]);
  });

  it.each([
    ['clusterctl-crd', 'the file clusterctl-crd'],
    ['cluster-api-bootstrap-kubeadm-metadata', 'the file cluster-api-bootstrap-kubeadm-metadata'],
    [
      'registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2',
      'the image registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2',
    ],
    ['bke.io/bke:v0.1.0', 'the image bke.io/bke:v0.1.0'],
  ])('lacks %s where that is left out', (without, line) => {
    expect(missingForManagement(source({ without }))).toEqual([line]);
  });

  it('lacks the image of another bke than the one that installs', () => {
    expect(missingForManagement({ ...source(), bkeVersion: '0.2.0' })).toEqual(['the image bke.io/bke:v0.2.0']);
  });

  it('lacks everything for another architecture', () => {
    expect(missingForManagement(source({ platform: 'linux/arm64' }))).toHaveLength(8);
  });

  it('has images by the digest that the release gives them', () => {
    expect(pinnedImage(source(), 'bke.io/bke:v0.1.0')).toBe(`bke.io/bke:v0.1.0@${digest}`);
    expect(pinnedImage(source(), 'bke.io/bke:v0.2.0')).toBeUndefined();
  });
});
