import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import { loadBundle } from '../../../src/release/bundle/load.ts';
import { openBundle } from '../../../src/release/bundle/open.ts';
import type { RegistryClient } from '../../../src/release/oci/registry-client.ts';
import { openFileRepository } from '../../../src/release/repository/store.ts';
import { buildIn, makeLayout, temporaryFolder } from '../../fakes/release.ts';
import { startRegistry, type TestRegistry } from './registry.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('not run: a full disk is made with a small tmpfs, and only root may mount one\n');

const megabyte = 1024 * 1024;
let dir: string;
let small: string;
let registry: TestRegistry;

describe.runIf(isRoot)('a full disk', () => {
  beforeAll(async () => {
    dir = await temporaryFolder();
    small = join(dir, 'small');
    await mkdir(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=50m', 'bke-test', small]);
    registry = await startRegistry(join(dir, 'registry'), { store: join(small, 'store') });
  });
  afterAll(async () => {
    await registry.stop();
    execFileSync('umount', [small]);
    await rm(dir, { recursive: true });
  });

  it('of the file repository is told before anything is written', async () => {
    const repository = await openFileRepository(join(small, 'data'));
    const file = { path: 'big', digest: digestOf('never read'), size: 100 * megabyte };
    await expect(repository.add('files', file, () => Readable.from([]))).rejects.toMatchObject({
      code: 'BKE_DISK_FULL',
      message: expect.stringMatching(
        /^\S+\/small\/data\/files has \S+ MiB free \(\d+ bytes\), big needs 100 MiB \(104857600 bytes\)$/,
      ),
    });
    expect(await readdir(join(small, 'data/files'))).toEqual([]);
  });

  it('that fills up meanwhile is told with the file, and the part is removed', async () => {
    const repository = await openFileRepository(join(small, 'data'));
    const size = 40 * megabyte;
    const chunk = Buffer.alloc(megabyte, 'x');
    const growing = () =>
      Readable.from(
        (function* grow() {
          for (let i = 0; i < 100; i += 1) yield chunk;
        })(),
      );
    await expect(
      repository.add('files', { path: 'grows', digest: digestOf('x'), size }, growing),
    ).rejects.toMatchObject({
      code: 'BKE_DISK_FULL',
      message: `the disk is full: writing ${join(small, 'data/files/grows')} needs 40.0 MiB (${size} bytes)`,
    });
    expect(await readdir(join(small, 'data/files'))).toEqual([]);
  });

  it('of a registry is told as that, its part is removed, and a smaller bundle still goes in', async () => {
    const folder = join(dir, 'large');
    await mkdir(folder);
    await makeLayout(join(folder, 'image'), [randomBytes(100 * megabyte)], ['amd64']);
    const artifacts = '- {kind: image, name: i, ref: "docker.io/library/large:1", sources: {all: {layout: image}}}';
    const built = await buildIn(folder, artifacts, { platforms: ['linux/amd64'] });
    const client = registry.client();
    try {
      await using bundle = await openBundle(built.path, { allowUnsigned: true });
      await expect(loadBundle(bundle, { registry: client })).rejects.toMatchObject({
        code: 'BKE_DISK_FULL',
        message: expect.stringMatching(
          /^the disk of the registry is full: 127\.0\.0\.1:\d+\/docker\.io\/library\/large: cannot push blob sha256:\w+: HTTP 500: .*no space left on device/,
        ),
      });
      // The file is gone at once; its blocks are free when the registry's runtime collects the handle it lost in the failed write.
      expect(largeFiles(small)).toEqual([]);
      await expect
        .poll(() => freeAfterRequests(client), { timeout: 100_000, interval: 20 })
        .toBeGreaterThan(45 * megabyte);
      await makeLayout(join(folder, 'image'), [randomBytes(10 * megabyte)], ['amd64']);
      const smaller = await buildIn(folder, artifacts, { platforms: ['linux/amd64'] });
      await using next = await openBundle(smaller.path, { allowUnsigned: true });
      expect(await loadBundle(next, { registry: client })).toMatchObject({ images: { loaded: 1 } });
    } finally {
      client.close();
    }
  });
});

async function freeAfterRequests(client: RegistryClient): Promise<number> {
  for (let i = 0; i < 20; i += 1) await client.ping();
  const { bavail, bsize } = await statfs(small);
  return bavail * bsize;
}

function largeFiles(folder: string): string[] {
  const found = execFileSync('find', [folder, '-type', 'f', '-size', '+1M'], { encoding: 'utf8' });
  return found.split('\n').filter((line) => line !== '');
}
