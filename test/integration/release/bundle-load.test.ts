import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import type { ImageEntry } from '../../../src/release/bundle/description.ts';
import { loadBundle } from '../../../src/release/bundle/load.ts';
import { type Bundle, openBundle } from '../../../src/release/bundle/open.ts';
import { verifyBundle } from '../../../src/release/bundle/verify.ts';
import type { RegistryClient } from '../../../src/release/oci/registry-client.ts';
import { imageManifest, mediaType } from '../../../src/release/oci/types.ts';
import { buildIn, finishLayout, makeLayout, putImage, temporaryFolder } from '../../fakes/release.ts';
import { startRegistry, type TestRegistry } from './registry.ts';

let dir: string;
let registry: TestRegistry;
let client: RegistryClient;

beforeAll(async () => {
  dir = await temporaryFolder();
  registry = await startRegistry(join(dir, 'registry'));
  client = registry.client();
});
afterAll(async () => {
  client.close();
  await registry.stop();
  await rm(dir, { recursive: true });
});

async function folderWith(layers: readonly Buffer[], name: string): Promise<string> {
  const folder = join(dir, name);
  await mkdir(folder);
  await makeLayout(join(folder, 'image'), layers);
  return folder;
}

const imageOf = (ref: string, layout = 'image') =>
  `- {kind: image, name: i, ref: "${ref}", sources: {all: {layout: ${layout}}}}`;

function firstImage({ description }: Bundle): ImageEntry {
  const [entry] = description.entries;
  if (entry?.kind !== 'image') throw new Error('the first entry is no image');
  return entry;
}

describe('loading images', () => {
  it('puts each under the name of its source registry, for every platform, and a second time sends nothing', async () => {
    const folder = await folderWith([randomBytes(300_000), randomBytes(200_000)], 'plain');
    const artifacts = [imageOf('docker.io/library/plain:1'), imageOf('localhost:5000/plain:1')].join('\n');
    const built = await buildIn(folder, artifacts);
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    const report = await loadBundle(bundle, { registry: client });
    expect(report).toMatchObject({ images: { loaded: 2, present: 0 }, changed: true });
    expect(report.bytes).toBeGreaterThan(500_000);
    // The second image has the same layers: they are mounted, not sent again.
    expect(report.bytes).toBeLessThan(510_000);
    const { digest, platforms } = firstImage(bundle);
    for (const repository of ['docker.io/library/plain', 'localhost_5000/plain']) {
      expect(await client.resolve(repository, '1')).toEqual({ digest, mediaType: mediaType.ociIndex });
      for (const child of Object.values(platforms)) {
        const manifest = await client.getManifest(repository, child);
        expect(manifest?.digest).toBe(child);
        const { layers } = imageManifest.parse(JSON.parse(manifest?.bytes.toString() ?? ''));
        for (const layer of layers) expect(digestOf(await buffer(client.blob(repository, layer)))).toBe(layer.digest);
      }
    }
    expect(await loadBundle(bundle, { registry: client })).toMatchObject({
      images: { loaded: 0, present: 2 },
      bytes: 0,
      changed: false,
    });
  });

  it('goes on after a stop with what is missing', async () => {
    const layers = Array.from({ length: 6 }, () => randomBytes(1_000_000));
    const folder = await folderWith(layers, 'stopped');
    const built = await buildIn(folder, imageOf('docker.io/library/stopped:1'));
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    const stop = new AbortController();
    const stopping = loadBundle(
      bundle,
      { registry: client },
      {
        signal: stop.signal,
        concurrency: 1,
        onProgress: ({ done }) => {
          if (done > 3_000_000) stop.abort(new Error('stopped'));
        },
      },
    );
    await expect(stopping).rejects.toThrow();
    expect(await client.resolve('docker.io/library/stopped', '1')).toBeUndefined();
    const report = await loadBundle(bundle, { registry: client });
    expect(report.bytes).toBeLessThan(5_000_000);
    expect(await client.resolve('docker.io/library/stopped', '1')).toMatchObject({ digest: firstImage(bundle).digest });
  });

  it('never shows an image one of whose layers is damaged, and loads it once the bundle is good', async () => {
    const layer = Buffer.concat([randomBytes(1_000_000), Buffer.from('here'), randomBytes(1_000_000)]);
    const folder = await folderWith([randomBytes(100_000), layer], 'damaged');
    const built = await buildIn(folder, imageOf('docker.io/library/damaged:1'));
    const bytes = await readFile(built.path);
    bytes[bytes.indexOf('here')] = 'H'.charCodeAt(0);
    const bad = join(folder, 'bad.tar');
    await writeFile(bad, bytes);
    await using bundle = await openBundle(bad, { allowUnsigned: true });
    expect((await verifyBundle(bundle)).faults).toEqual([
      { item: 'image docker.io/library/damaged:1', message: `the blob ${digestOf(layer)} is damaged` },
    ]);
    await expect(loadBundle(bundle, { registry: client })).rejects.toMatchObject({
      code: 'BKE_BUNDLE_DAMAGED',
      message: expect.stringContaining(`${bad} is damaged: the blob ${digestOf(layer)} is sha256:`),
    });
    expect(await client.resolve('docker.io/library/damaged', '1')).toBeUndefined();
    expect(await client.hasBlob('docker.io/library/damaged', digestOf(layer))).toBe(false);
    await using good = await openBundle(built.path, { allowUnsigned: true });
    expect(await loadBundle(good, { registry: client })).toMatchObject({ images: { loaded: 1 } });
  });

  it('of an index that promised more than is there serves what is there for each platform', async () => {
    const folder = join(dir, 'promise');
    const layout = join(folder, 'image');
    await mkdir(folder);
    const there = await putImage(layout, { architecture: 'amd64', layers: [Buffer.from('')], config: {} });
    const absent = {
      mediaType: mediaType.ociManifest,
      digest: `sha256:${'a'.repeat(64)}`,
      size: 500,
      platform: { os: 'linux', architecture: 'arm64' },
    };
    await finishLayout(layout, [there, absent]);
    await expect(buildIn(folder, imageOf('docker.io/library/promise:1'))).rejects.toMatchObject({
      code: 'BKE_IMAGE_PLATFORM_MISSING',
    });
    const built = await buildIn(folder, imageOf('docker.io/library/promise:1'), { platforms: ['linux/amd64'] });
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    await loadBundle(bundle, { registry: client });
    expect(await client.resolve('docker.io/library/promise', '1')).toMatchObject({ digest: there.digest });
    expect(await client.getManifest('docker.io/library/promise', absent.digest)).toBeUndefined();
  });

  it('with OCI and Docker types mixed is taken by the registry as it is', async () => {
    const folder = join(dir, 'mixed');
    const layout = join(folder, 'image');
    await mkdir(folder);
    const manifests = [
      await putImage(layout, { architecture: 'amd64', layers: [randomBytes(1000)], docker: true }),
      await putImage(layout, { architecture: 'arm64', layers: [randomBytes(1000)] }),
    ];
    await finishLayout(layout, manifests);
    const built = await buildIn(folder, imageOf('docker.io/library/mixed:1'));
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    await loadBundle(bundle, { registry: client });
    for (const { digest, mediaType: type } of manifests) {
      expect(await client.getManifest('docker.io/library/mixed', digest)).toMatchObject({ digest, mediaType: type });
    }
  });
});

describe('building from a registry', () => {
  it('gives the same image that was loaded there, and fetches nothing twice', async () => {
    const folder = await folderWith([randomBytes(500_000)], 'from-registry');
    const built = await buildIn(folder, imageOf('docker.io/library/again:1'));
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    await loadBundle(bundle, { registry: client });
    const open = await startRegistry(join(dir, 'open'), { store: registry.store, login: false });
    try {
      const reference = `localhost:${open.port}/docker.io/library/again:1`;
      const from = `- {kind: image, name: i, ref: "docker.io/library/again:1", sources: {all: {registry: "${reference}"}}}`;
      const ca = [open.certificates.ca];
      const first = await buildIn(folder, from, { output: join(folder, 'copy.tar'), ca });
      expect(first.digest).toBe(built.digest);
      const reads = () =>
        open
          .log()
          .split('\n')
          .filter((line) => line.includes('GET /v2/docker.io/library/again/blobs/')).length;
      const before = reads();
      expect(before).toBeGreaterThan(0);
      expect((await buildIn(folder, from, { output: join(folder, 'copy.tar'), ca })).digest).toBe(built.digest);
      expect(reads()).toBe(before);
    } finally {
      await open.stop();
    }
  });
});
