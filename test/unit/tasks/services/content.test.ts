import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BundleDescription } from '../../../../src/release/bundle/description.ts';
import type { Platform } from '../../../../src/release/platforms.ts';
import {
  contentOf,
  filesIn,
  imagesIn,
  missingForServices,
  programArtifact,
  registriesOf,
  sandboxImage,
} from '../../../../src/tasks/services/content.ts';
import { contentText, readContent } from '../../../../src/tasks/services/records.ts';
import { taskHost } from '../../../fakes/task-host.ts';

const digest = `sha256:${'0'.repeat(64)}` as const;

function file(name: string, version: string, type: 'binary' | 'archive' = 'binary') {
  const path = `${name}/${version}/linux/amd64/${name}`;
  return {
    kind: 'file',
    name,
    version,
    type,
    variants: { 'linux/amd64': { path, digest, size: 1, manifest: digest } },
  } as const;
}

function image(ref: string) {
  return { kind: 'image', name: ref, ref, digest, mediaType: 'x', platforms: { 'linux/amd64': digest } } as const;
}

function bundle(entries: BundleDescription['entries']) {
  const description: BundleDescription = {
    format: 1,
    name: 'b',
    version: '1',
    bke: '0.1.0',
    platforms: ['linux/amd64'],
    kubernetesVersions: ['v1.36.3'],
    entries,
    blobs: [],
  };
  return { path: 'b.tar', description, signature: { state: 'unsigned' } } as const;
}

const all = [
  file('registry', 'v3.1.2'),
  file('containerd', 'v2.3.7', 'archive'),
  file('runc', 'v1.4.4'),
  file('crictl', 'v1.37.0'),
  file('cni-plugins', 'v1.9.1', 'archive'),
  image('registry.k8s.io/pause:3.10.2'),
  image('quay.io/x/y:1'),
];

const of = (entries: BundleDescription['entries'], platform: Platform = 'linux/amd64') => ({
  catalogue: contentOf(bundle(entries)).catalogue,
  platform,
});

describe('what init needs of a bundle', () => {
  it('is found: programs, the pause image, the registries of all images', () => {
    const content = of(all);
    expect(programArtifact(content, '/data/files', 'containerd')).toMatchObject({
      version: 'v2.3.7',
      type: 'archive',
      source: '/data/files/containerd/v2.3.7/linux/amd64/containerd',
      digest,
    });
    expect(sandboxImage(content)).toBe('registry.k8s.io/pause:3.10.2');
    expect(registriesOf(content.catalogue)).toContain('quay.io');
    expect(imagesIn(content.catalogue)).toEqual([
      { ref: 'registry.k8s.io/pause:3.10.2', digest },
      { ref: 'quay.io/x/y:1', digest },
    ]);
  });

  it('lists each file once, also one that is the same for every platform', () => {
    const shared = { path: 'x.yaml', digest, size: 3, manifest: digest };
    const manifest = {
      kind: 'file',
      name: 'x',
      version: '1',
      type: 'manifest',
      variants: { 'linux/amd64': shared, 'linux/arm64': shared },
    } as const;
    expect(filesIn(of([manifest]).catalogue)).toEqual([{ area: 'files', path: 'x.yaml', digest, size: 3 }]);
  });

  it('is recorded in exactly this form, and read back from it', async () => {
    const content = contentOf(bundle(all));
    const text = contentText(content);
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden/content.json.golden'));
    const machine = await taskHost();
    await mkdir(join(machine.root, 'etc/bke/services'), { recursive: true });
    await writeFile(join(machine.root, 'etc/bke/services/content.json'), text);
    expect(await readContent(machine.host)).toEqual(content);
    await writeFile(join(machine.root, 'etc/bke/services/content.json'), text.slice(0, 40));
    await expect(readContent(machine.host)).rejects.toMatchObject({ code: 'BKE_CONFIG_INVALID' });
    await machine.remove();
  });

  it('takes the newest of several versions, read as versions', () => {
    const content = of([file('runc', 'v1.10.0'), file('runc', 'v1.9.0'), ...all, image('registry.k8s.io/pause:3.9')]);
    expect(programArtifact(content, '', 'runc').version).toBe('v1.10.0');
    expect(sandboxImage(content)).toBe('registry.k8s.io/pause:3.10.2');
  });

  it('says everything that is missing, for the platform of the host', () => {
    const little = [file('registry', '1'), image('x.io/pause-like:1')];
    expect(missingForServices(of(little), true)).toEqual([
      'program containerd',
      'program runc',
      'program crictl',
      'program cni-plugins',
      'image pause',
    ]);
    expect(missingForServices(of(little), false)).toEqual([]);
    expect(missingForServices(of(all, 'linux/arm64'), false)).toEqual(['program registry']);
  });

  it('tells other content apart by digest', () => {
    const digestOf = (entries: BundleDescription['entries']) => contentOf(bundle(entries)).bundle.digest;
    expect(digestOf(all)).toBe(digestOf([...all]));
    expect(digestOf(all)).not.toBe(digestOf([...all, image('a.io/b:2')]));
  });
});
