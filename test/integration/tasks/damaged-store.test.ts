// What is lost or damaged in the store of a real registry is seen, and replaced by the next load.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Host } from '../../../src/host/host.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import type { Content } from '../../../src/lib/digest.ts';
import { imageBlobs, loadBundle } from '../../../src/release/bundle/load.ts';
import { type Bundle, openBundle } from '../../../src/release/bundle/open.ts';
import { type ImagePlace, missingParts } from '../../../src/release/oci/missing-parts.ts';
import type { RegistryClient } from '../../../src/release/oci/registry-client.ts';
import { blobPath, removeDamagedBlobs } from '../../../src/tasks/services/store.ts';
import { buildIn, makeLayout, temporaryFolder } from '../../fakes/release.ts';
import { startRegistry, type TestRegistry } from '../release/registry.ts';

let dir: string;
let registry: TestRegistry;
let client: RegistryClient;
let host: Host;
let bundle: Bundle;
let blobs: readonly Content[];
let place: ImagePlace;

const remove = () => removeDamagedBlobs(host, dir, { blobs, signal: AbortSignal.timeout(30_000) });

beforeAll(async () => {
  dir = await temporaryFolder();
  registry = await startRegistry(join(dir, 'run'), { store: join(dir, 'registry') });
  client = registry.client();
  host = await openLocalHost();
  const folder = join(dir, 'bundle');
  await mkdir(folder);
  await makeLayout(join(folder, 'image'), [randomBytes(300_000), randomBytes(200_000)]);
  const image = '- {kind: image, name: i, ref: "docker.io/library/x:1", sources: {all: {layout: image}}}';
  bundle = await openBundle((await buildIn(folder, image)).path, { allowUnsigned: true });
  await loadBundle(bundle, { registry: client });
  blobs = await imageBlobs(bundle);
  const [entry] = bundle.description.entries;
  if (entry?.kind !== 'image') throw new Error('the first entry is no image');
  place = { repository: 'docker.io/library/x', tag: '1', digest: entry.digest };
});
afterAll(async () => {
  client.close();
  await bundle.close();
  await host.close();
  await registry.stop();
  await rm(dir, { recursive: true });
});

describe('a damaged store', () => {
  it('is left alone where nothing is wrong', async () => {
    expect(blobs.length).toBeGreaterThan(4);
    expect([await missingParts(client, place), await remove()]).toEqual([[], []]);
  });

  it('is mended whichever blob was emptied, layer, configuration, manifest or index', async () => {
    for (const { digest } of blobs) {
      const path = blobPath(dir, digest);
      const before = await readFile(path);
      await truncate(path, 0);
      expect(await missingParts(client, place), digest).not.toEqual([]);
      expect(await remove()).toEqual([digest]);
      expect(await loadBundle(bundle, { registry: client })).toMatchObject({ images: { loaded: 1 }, changed: true });
      expect(await readFile(path)).toEqual(before);
      expect(await missingParts(client, place)).toEqual([]);
    }
  });

  it('is mended where bytes changed and no size did', async () => {
    const [blob] = blobs.toSorted((a, b) => b.size - a.size);
    const path = blobPath(dir, blob?.digest ?? '');
    const before = await readFile(path);
    await writeFile(path, Buffer.from(before).fill(0, 100, 110));
    expect(await remove()).toEqual([blob?.digest]);
    await loadBundle(bundle, { registry: client });
    expect(await readFile(path)).toEqual(before);
  });

  it('is filled again where all of it is gone', async () => {
    await rm(join(dir, 'registry/docker'), { recursive: true });
    expect(await missingParts(client, place)).toEqual(['the manifest 1 is missing']);
    expect(await loadBundle(bundle, { registry: client })).toMatchObject({ images: { loaded: 1 } });
    expect(await missingParts(client, place)).toEqual([]);
  });

  it('of a registry that is not ours is told, since a push cannot replace a blob', async () => {
    const [blob] = blobs.toSorted((a, b) => b.size - a.size);
    await truncate(blobPath(dir, blob?.digest ?? ''), 7);
    await expect(loadBundle(bundle, { registry: client })).rejects.toMatchObject({
      code: 'BKE_REGISTRY_REFUSED',
      message: expect.stringContaining(`has the blob ${blob?.digest} with 7 bytes instead of ${blob?.size}`),
    });
  });
});
