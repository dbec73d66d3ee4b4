// Builds, verifies and loads a bundle with one large blob, and prints how far memory grew: run by memory.test.ts in a process of its own.
import { createHash, randomFillSync } from 'node:crypto';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '../../../src/lib/digest.ts';
import { loadBundle } from '../../../src/release/bundle/load.ts';
import { openBundle } from '../../../src/release/bundle/open.ts';
import { verifyBundle } from '../../../src/release/bundle/verify.ts';
import { openFileRepository } from '../../../src/release/repository/store.ts';
import { buildIn, finishLayout, json, putBlob } from '../../fakes/release.ts';
import { startRegistry } from './registry.ts';

const megabytes = 600;
const [dir = ''] = process.argv.slice(2);

async function largeFile(path: string): Promise<Digest> {
  const file = await open(path, 'w');
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(1024 * 1024);
  for (let i = 0; i < megabytes; i += 1) {
    randomFillSync(chunk);
    hash.update(chunk);
    await file.write(chunk);
  }
  await file.close();
  return `sha256:${hash.digest('hex')}`;
}

const layout = join(dir, 'image');
await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
const digest = await largeFile(join(dir, 'large'));
const { size } = await stat(join(dir, 'large'));
await rename(join(dir, 'large'), join(layout, 'blobs/sha256', digest.slice(7)));
const config = await putBlob(layout, json({ os: 'linux', architecture: 'amd64' }));
const type = 'application/vnd.oci.image.manifest.v1+json';
const layers = [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size }];
const manifest = json({
  schemaVersion: 2,
  mediaType: type,
  config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
  layers,
});
await finishLayout(layout, [{ mediaType: type, ...(await putBlob(layout, manifest)) }]);
const registry = await startRegistry(join(dir, 'registry'));
const client = registry.client();
const before = process.resourceUsage().maxRSS;

const artifacts = [
  '- {kind: image, name: i, ref: "docker.io/library/large:1", sources: {all: {layout: image}}}',
  `- {kind: file, name: f, version: 1.0.0, type: other, path: large, sources: {linux/amd64: {file: image/blobs/sha256/${digest.slice(7)}}}}`,
].join('\n');
const built = await buildIn(dir, artifacts, { platforms: ['linux/amd64'] });
const bundle = await openBundle(built.path, { allowUnsigned: true });
const { faults } = await verifyBundle(bundle);
const report = await loadBundle(bundle, { registry: client, files: await openFileRepository(join(dir, 'data')) });
await bundle.close();

const grownMiB = Math.round((process.resourceUsage().maxRSS - before) / 1024);
client.close();
await registry.stop();
process.stdout.write(`${JSON.stringify({ grownMiB, faults: faults.length, bytes: report.bytes })}\n`);
