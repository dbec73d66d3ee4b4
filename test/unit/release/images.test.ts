import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestOf, hexOf } from '../../../src/lib/digest.ts';
import { openBundle } from '../../../src/release/bundle/open.ts';
import { verifyBundle } from '../../../src/release/bundle/verify.ts';
import {
  entryOf,
  buildIn,
  finishLayout,
  json,
  makeLayout,
  putBlob,
  putImage,
  temporaryFolder,
} from '../../fakes/release.ts';
import { imageIndex } from '../../../src/release/oci/types.ts';

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe('an image whose index promises more than is there', () => {
  let layout: string;
  const image = '- {kind: image, name: i, ref: "docker.io/library/i:1", sources: {all: {layout: promise}}}';
  const absent = {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: `sha256:${'a'.repeat(64)}`,
    size: 500,
  };

  beforeEach(async () => {
    layout = join(folder, 'promise');
    await rm(layout, { recursive: true, force: true });
  });

  it('is refused by image and platform where that platform is wanted', async () => {
    const there = await putImage(layout, { architecture: 'amd64', layers: [Buffer.from('')], config: {} });
    await finishLayout(layout, [there, { ...absent, platform: { os: 'linux', architecture: 'arm64' } }]);
    await expect(buildIn(folder, image)).rejects.toMatchObject({
      code: 'BKE_IMAGE_PLATFORM_MISSING',
      message: `image docker.io/library/i:1: the index in ${layout} promises linux/arm64, but its manifest ${absent.digest} is not there`,
    });
  });

  it('is rebuilt from what is there where that platform is not wanted', async () => {
    const there = await putImage(layout, { architecture: 'amd64', layers: [Buffer.from('')], config: {} });
    await finishLayout(layout, [there, { ...absent, platform: { os: 'linux', architecture: 'arm64' } }]);
    const built = await buildIn(folder, image, { platforms: ['linux/amd64'] });
    expect(built.description.entries[0]).toMatchObject({
      digest: there.digest,
      platforms: { 'linux/amd64': there.digest },
    });
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    expect((await verifyBundle(bundle)).faults).toEqual([]);
  });

  it('loses its attestations and platforms that nobody wants', async () => {
    const manifests = [
      await putImage(layout, { architecture: 'amd64', layers: [Buffer.from('1')] }),
      await putImage(layout, { architecture: 'arm64', layers: [Buffer.from('1')] }),
      await putImage(layout, { architecture: 's390x', layers: [Buffer.from('1')] }),
      { ...absent, platform: { os: 'unknown', architecture: 'unknown' } },
    ];
    await finishLayout(layout, manifests);
    const built = await buildIn(folder, image);
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    const { digest } = entryOf(built.description, 'image');
    const index = imageIndex.parse(JSON.parse((await bundle.readBlob(digest)).toString()));
    expect(index).toMatchObject({
      manifests: [{ platform: { architecture: 'amd64' } }, { platform: { architecture: 'arm64' } }],
    });
    expect(index.manifests).toHaveLength(2);
    expect((await verifyBundle(bundle)).faults).toEqual([]);
  });

  it('is refused where a layer is missing, cut or another than its name says', async () => {
    const layer = Buffer.from('a layer');
    const path = join(layout, 'blobs', 'sha256', hexOf(digestOf(layer)));
    await makeLayout(layout, [layer]);
    await rm(path);
    await expect(buildIn(folder, image, { platforms: ['linux/amd64'] })).rejects.toMatchObject({
      code: 'BKE_IMAGE_PLATFORM_MISSING',
      message: `image docker.io/library/i:1: ${layout} has no complete image for linux/amd64: ${digestOf(layer)} is not there`,
    });
    await writeFile(path, 'a laye');
    await expect(buildIn(folder, image)).rejects.toMatchObject({
      code: 'BKE_DIGEST_MISMATCH',
      message: `${path} should have 7 bytes but has 6`,
    });
    await writeFile(path, 'A layer');
    await expect(buildIn(folder, image)).rejects.toMatchObject({
      code: 'BKE_DIGEST_MISMATCH',
      message: `${path} should be ${digestOf(layer)} (7 bytes) but is ${digestOf(Buffer.from('A layer'))} (7 bytes)`,
    });
  });

  it('is refused where it is a single image of another platform, or does not say which', async () => {
    await finishLayout(layout, [await putImage(layout, { architecture: 'arm64', layers: [Buffer.from('1')] })]);
    await expect(buildIn(folder, image, { platforms: ['linux/amd64'] })).rejects.toMatchObject({
      code: 'BKE_IMAGE_PLATFORM_MISSING',
      message: `image docker.io/library/i:1: what ${layout} has for linux/amd64 is for linux/arm64`,
    });
    await finishLayout(layout, [await putImage(layout, { architecture: 'arm64', layers: [], config: {} })]);
    await expect(buildIn(folder, image, { platforms: ['linux/arm64'] })).rejects.toMatchObject({
      code: 'BKE_IMAGE_UNUSABLE',
      message: `image docker.io/library/i:1: ${layout} does not say for which platform it is; give it under that platform`,
    });
  });

  it('is refused where its index says another platform than its config', async () => {
    const lie = await putImage(layout, { architecture: 'arm64', layers: [] });
    const other = await putImage(layout, { architecture: 'arm64', layers: [Buffer.from('2')] });
    await finishLayout(layout, [{ ...lie, platform: { os: 'linux', architecture: 'amd64' } }, other]);
    await expect(buildIn(folder, image)).rejects.toMatchObject({
      code: 'BKE_IMAGE_UNUSABLE',
      message: `image docker.io/library/i:1: what ${layout} has for linux/amd64 is for linux/arm64`,
    });
  });

  it('may mix OCI and Docker types; none is encoded again', async () => {
    const manifests = [
      await putImage(layout, { architecture: 'amd64', layers: [Buffer.from('1')], docker: true }),
      await putImage(layout, { architecture: 'arm64', layers: [Buffer.from('1')] }),
    ];
    await finishLayout(layout, manifests);
    const built = await buildIn(folder, image);
    expect(built.description.entries[0]).toMatchObject({
      platforms: { 'linux/amd64': manifests[0]?.digest, 'linux/arm64': manifests[1]?.digest },
    });
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    expect((await verifyBundle(bundle)).faults).toEqual([]);
  });

  it('is refused where it is of a kind that no containerd runs', async () => {
    const old = await putBlob(layout, json({ schemaVersion: 1, name: 'x', fsLayers: [] }));
    await finishLayout(layout, [{ mediaType: 'application/vnd.docker.distribution.manifest.v1+json', ...old }]);
    await expect(buildIn(folder, image)).rejects.toMatchObject({
      code: 'BKE_IMAGE_UNUSABLE',
      message: `image docker.io/library/i:1: ${layout} has no image`,
    });
  });
});
