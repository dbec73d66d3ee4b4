// bke's own image: it has all the binary needs and nothing more, and two builds of it are the same bytes.
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bkeImage, bkeImageRef } from '../../../scripts/image/bke-image.ts';
import { type Arch, type ImageContent, writeLayout } from '../../../scripts/image/layout.ts';
import { imageIndex, imageManifest } from '../../../src/release/oci/types.ts';
import { ensurePackages } from '../../testbed/packages.ts';

const dist = join(import.meta.dirname, '../../../dist');
const ref = bkeImageRef('1.2.3');
let folder: string;

beforeAll(async () => {
  await ensurePackages();
  folder = await mkdtemp(join(tmpdir(), 'bke-image-'));
});
afterAll(async () => rm(folder, { recursive: true }));

async function build(name: string, binaries: Partial<Record<Arch, string>>): Promise<string> {
  const variants: Partial<Record<Arch, ImageContent>> = {};
  for (const arch of ['amd64', 'arm64'] as const) {
    if (binaries[arch] !== undefined) variants[arch] = await bkeImage(binaries[arch], arch);
  }
  return write(name, variants);
}

async function write(name: string, variants: Partial<Record<Arch, ImageContent>>): Promise<string> {
  const dir = join(folder, name);
  await writeLayout(ref, variants, dir);
  return dir;
}

async function readBlob(layout: string, digest: string): Promise<unknown> {
  return JSON.parse(await readFile(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'));
}

/** The image's manifests: of several architectures those of the index below the layout's own. */
async function manifestsOf(layout: string) {
  const top = imageIndex.parse(JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')));
  const root = await readBlob(layout, top.manifests[0]?.digest ?? '');
  const nested = imageIndex.safeParse(root);
  const digests = (nested.success ? nested.data : top).manifests.map(({ digest }) => digest);
  return Promise.all(digests.map(async (digest) => imageManifest.parse(await readBlob(layout, digest))));
}

/** Unpacks the layers of a layout's only image as root, with their modes. */
async function unpack(layout: string): Promise<string> {
  const root = join(layout, 'root');
  await mkdir(root);
  const [manifest] = await manifestsOf(layout);
  for (const { digest } of manifest?.layers ?? []) {
    await execa('tar', ['-xpzf', join(layout, 'blobs', digest.replace(':', '/')), '-C', root]);
  }
  return root;
}

it('is the same bytes when it is built again, for both architectures in one', async () => {
  // Small programs stand for the binary: what is tested is everything around it.
  const binaries = { amd64: '/usr/bin/true', arm64: '/usr/aarch64-linux-gnu/lib/libstdc++.so.6' };
  const [first, second] = [await build('first', binaries), await build('second', binaries)];
  const names = await readdir(join(first, 'blobs/sha256'));
  expect(names.length).toBeGreaterThan(6);
  expect(await readdir(join(second, 'blobs/sha256'))).toEqual(names);
  expect(await readFile(join(second, 'index.json'))).toEqual(await readFile(join(first, 'index.json')));
  const configs = (await manifestsOf(first)).map(({ config }) => readBlob(first, config.digest));
  const expected = { User: '65532:65532', Entrypoint: ['/usr/local/bin/bke'] };
  expect(await Promise.all(configs)).toMatchObject([
    { architecture: 'amd64', config: expected },
    { architecture: 'arm64', config: expected },
  ]);
});

it('runs bke as its user on a root that cannot be written, and has no shell', async () => {
  const root = await unpack(await build('amd64', { amd64: join(dist, 'bke-linux-amd64') }));
  const script =
    'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec chroot --userspec=65532:65532 "$1" bke version';
  const { stdout, stderr } = await execa('unshare', ['-m', 'sh', '-c', script, 'sh', root], {
    env: { PATH: '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin', HOME: '/nonexistent' },
    extendEnv: false,
  });
  expect(stdout).toMatch(/^bke \d+\.\d+\.\d+ \(linux\/amd64, node 24\.\d+\.\d+\)$/);
  expect(stderr).toBe('');
  expect((await stat(join(root, 'tmp'))).mode & 0o7777).toBe(0o1777);
  const programs = await readdir(root, { recursive: true });
  expect(programs.filter((name) => /(^|\/)s?bin\//.test(name))).toEqual(['usr/local/bin/bke']);
});

it('has the libraries of arm64, too', async () => {
  const binary = join(dist, 'bke-linux-arm64');
  const image = await bkeImage(binary, 'arm64');
  // The binary's own layer is left out: to pack it takes seconds, and shows nothing here.
  const root = await unpack(await write('arm64', { arm64: { ...image, layers: image.layers.slice(0, 1) } }));
  const { stdout } = await execa('qemu-aarch64-static', ['-L', root, binary, 'version'], {
    env: { PATH: process.env['PATH'] ?? '' },
    extendEnv: false,
  });
  expect(stdout).toMatch(/^bke \d+\.\d+\.\d+ \(linux\/arm64, node 24\.\d+\.\d+\)$/);
});

it('says which library is not there', async () => {
  await expect(bkeImage(join(dist, 'bke-linux-arm64'), 'amd64')).rejects.toThrow(/ld-linux-aarch64/);
});
