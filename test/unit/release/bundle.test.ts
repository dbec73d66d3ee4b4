import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestOf, hexOf } from '../../../src/lib/digest.ts';
import type { BundleDescription } from '../../../src/release/bundle/description.ts';
import { requireVersion } from '../../../src/release/bundle/fitness.ts';
import { summarise } from '../../../src/release/bundle/inspect.ts';
import { loadBundle } from '../../../src/release/bundle/load.ts';
import { blobName, indexContent, jsonBytes, layoutContent } from '../../../src/release/bundle/members.ts';
import { type OpenBundleOptions, openBundle } from '../../../src/release/bundle/open.ts';
import { signatureLine } from '../../../src/release/bundle/signature.ts';
import { archiveEnd, encodeHeader, paddingOf } from '../../../src/release/bundle/tar-header.ts';
import { verifyBundle } from '../../../src/release/bundle/verify.ts';
import { openFileRepository } from '../../../src/release/repository/store.ts';
import { keyId } from '../../../src/release/trust.ts';
import {
  buildIn,
  finishLayout,
  json,
  makeLayout,
  makeSources,
  putBlob,
  putImage,
  signingKeys,
  temporaryFolder,
} from '../../fakes/release.ts';

const keys = signingKeys();
const trusted: OpenBundleOptions = { trustKeys: [keys.publicKey] };
let folder: string;
let artifacts: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  artifacts = await makeSources(folder);
  await buildIn(folder, artifacts, { output: join(folder, 'good.tar'), signKey: keys.privateKey });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const good = () => join(folder, 'good.tar');

describe('building', () => {
  it('gives equal bytes for equal input', async () => {
    const again = await buildIn(folder, artifacts, { output: join(folder, 'again.tar'), signKey: keys.privateKey });
    const bytes = await readFile(good());
    expect((await readFile(again.path)).equals(bytes)).toBe(true);
    expect(again).toMatchObject({ size: bytes.length, digest: digestOf(bytes) });
  });

  it('lists everything with path, digest and platforms', async () => {
    await using bundle = await openBundle(good(), trusted);
    const tool = Buffer.from('#!/bin/sh\necho arm64\n');
    expect(bundle.description).toMatchObject({
      format: 1,
      name: 'test',
      version: '1.0.0',
      platforms: ['linux/amd64', 'linux/arm64'],
    });
    expect(bundle.description.entries[0]).toMatchObject({
      kind: 'file',
      variants: { 'linux/arm64': { path: 'tools/linux/arm64/tool', digest: digestOf(tool), size: tool.length } },
    });
    expect(bundle.description.entries[1]).toMatchObject({
      variants: { 'linux/amd64': { path: 'addons/addon.yaml' }, 'linux/arm64': { path: 'addons/addon.yaml' } },
    });
    expect(bundle.description.entries[3]).toMatchObject({ kind: 'chart', file: 'app-1.2.3.tgz' });
    expect(await bundle.readBlob(digestOf(tool))).toEqual(tool);
    const { entries } = await summarise(bundle);
    expect(entries.map(({ name, version, platforms }) => [name, version, platforms.length])).toEqual([
      ['tool', '1.0.0', 2],
      ['addon', '1.0.0', 2],
      ['docker.io/library/image', '1.0', 2],
      ['app', '1.2.3', 0],
    ]);
  });

  it('keeps the index of an image whose platforms are all wanted, and no more files than it makes', async () => {
    await using bundle = await openBundle(good(), trusted);
    const root: unknown = JSON.parse(await readFile(join(folder, 'image', 'index.json'), 'utf8'));
    expect(root).toMatchObject({
      manifests: [{ digest: (bundle.description.entries[2] as { digest: string }).digest }],
    });
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('takes a part of the platforms and rebuilds the index from what is wanted', async () => {
    const built = await buildIn(folder, artifacts, { output: join(folder, 'part.tar'), platforms: ['linux/arm64'] });
    const [tool, , image] = built.description.entries;
    expect(tool).toMatchObject({ variants: { 'linux/arm64': {} } });
    expect(Object.keys((tool as { variants: object }).variants)).toEqual(['linux/arm64']);
    expect(image).toMatchObject({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      sourceDigest: expect.stringMatching(/^sha256:/),
    });
    await using bundle = await openBundle(built.path, { allowUnsigned: true });
    expect((await verifyBundle(bundle)).faults).toEqual([]);
    await expect(openBundle(built.path, { allowUnsigned: true, platforms: ['linux/amd64'] })).rejects.toMatchObject({
      code: 'BKE_BUNDLE_PLATFORM',
      message: `${built.path} has nothing for linux/amd64: it was built for linux/arm64`,
    });
    await expect(buildIn(folder, artifacts, { platforms: ['linux/riscv64' as 'linux/arm64'] })).rejects.toMatchObject({
      code: 'BKE_USAGE',
    });
  });

  it('tells all artifacts that are missing or wrong at once, and leaves no file', async () => {
    const elf = Buffer.alloc(64);
    elf.write('\x7fELF\x02\x01\x01', 0, 'latin1');
    elf.writeUInt16LE(0xb7, 18);
    await writeFile(join(folder, 'elf'), elf);
    await writeFile(join(folder, 'empty'), '');
    const wrong = [
      '- {kind: file, name: a, version: 1, type: binary, path: "a/{platform}", sources: {linux/amd64: {file: elf}}}',
      '- {kind: file, name: b, version: 1, type: other, path: b, sources: {linux/amd64: {file: nowhere}}}',
      '- {kind: file, name: c, version: 1, type: other, path: c, sources: {linux/amd64: {file: empty}}}',
      `- {kind: file, name: d, version: 1, type: other, path: d, sources: {linux/amd64: {file: elf, digest: "sha256:${'0'.repeat(64)}"}}}`,
      '- {kind: chart, name: app, version: 9.9.9, source: {file: app.tgz}}',
      '- {kind: chart, name: elf, version: 1.0.0, source: {file: elf}}',
      '- {kind: image, name: i, ref: "r.io/i:1", sources: {linux/amd64: {layout: image}}}',
    ].join('\n');
    const output = join(folder, 'wrong.tar');
    await expect(buildIn(folder, wrong, { output })).rejects.toMatchObject({
      code: 'BKE_ARTIFACT_UNUSABLE',
      message: "the bundle can't be built: 8 faults in its sources",
      details: [
        `file a 1: ${join(folder, 'elf')} should be for linux/amd64 but is for linux/arm64`,
        'file a 1 has no source for linux/arm64',
        `file b 1: there is no file ${join(folder, 'nowhere')}`,
        `file c 1: ${join(folder, 'empty')} is empty`,
        `file d 1: ${join(folder, 'elf')} should be sha256:${'0'.repeat(64)} but is ${digestOf(elf)}`,
        `chart app 9.9.9: ${join(folder, 'app.tgz')} is chart app 1.2.3`,
        `chart elf 1.0.0: ${join(folder, 'elf')} is no whole chart archive: incorrect header check`,
        'image r.io/i:1 has no source for linux/arm64',
      ],
    });
    await expect(readFile(output)).rejects.toMatchObject({ code: 'ENOENT' });
  });
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
    const [entry] = built.description.entries;
    const index: unknown = JSON.parse(
      (await bundle.readBlob((entry as { digest: `sha256:${string}` }).digest)).toString(),
    );
    expect(index).toMatchObject({
      manifests: [{ platform: { architecture: 'amd64' } }, { platform: { architecture: 'arm64' } }],
    });
    expect((index as { manifests: unknown[] }).manifests).toHaveLength(2);
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

describe('a signature', () => {
  it('is told trusted, untrusted or absent', async () => {
    await using bundle = await openBundle(good(), trusted);
    expect(bundle.signature).toEqual({ state: 'trusted', key: keyId(keys.publicKey) });
    const other = signingKeys().publicKey;
    await expect(openBundle(good())).rejects.toMatchObject({
      code: 'BKE_BUNDLE_UNTRUSTED',
      message: `${good()} is signed by ${keyId(keys.publicKey)}; no key is trusted here`,
    });
    await expect(openBundle(good(), { trustKeys: [other] })).rejects.toMatchObject({
      code: 'BKE_BUNDLE_UNTRUSTED',
      message: `${good()} is signed by ${keyId(keys.publicKey)}; trusted here: ${keyId(other)}`,
    });
    await using allowed = await openBundle(good(), { allowUnsigned: true });
    expect(allowed.signature).toEqual({ state: 'untrusted', keys: [keyId(keys.publicKey)] });
    const unsigned = await buildIn(folder, artifacts, { output: join(folder, 'unsigned.tar') });
    await expect(openBundle(unsigned.path, trusted)).rejects.toMatchObject({
      code: 'BKE_BUNDLE_UNTRUSTED',
      message: `${unsigned.path} is not signed`,
    });
  });

  it('of a trusted key that does not fit is refused, even where unsigned bundles are allowed', async () => {
    const { path } = await alteredBundle((description) => ({ ...description, version: '6.6.6' }), { resign: false });
    await expect(openBundle(path, { ...trusted, allowUnsigned: true })).rejects.toMatchObject({
      code: 'BKE_BUNDLE_SIGNATURE',
      message: `${path}: bundle.json was changed after it was signed by ${keyId(keys.publicKey)}`,
    });
  });
});

/** The good bundle with another description, or other members. */
async function alteredBundle(
  alter: (description: BundleDescription) => unknown,
  options: {
    readonly resign?: boolean;
    readonly more?: Readonly<Record<string, Buffer>>;
    readonly index?: Buffer;
    readonly without?: string;
  } = {},
): Promise<{ path: string }> {
  await using bundle = await openBundle(good(), trusted);
  const before = jsonBytes(bundle.description);
  const altered = alter(bundle.description);
  const after = jsonBytes(altered);
  const described = altered as BundleDescription;
  const members: [string, Buffer][] = [
    ['bundle.json', after],
    ['bundle.json.sig', Buffer.from(signatureLine(options.resign === false ? before : after, keys.privateKey))],
    ['oci/oci-layout', layoutContent],
    ['oci/index.json', options.index ?? indexContent(described)],
  ];
  for (const { digest } of bundle.description.blobs) members.push([blobName(digest), await bundle.readBlob(digest)]);
  members.push(...Object.entries(options.more ?? {}));
  const path = join(folder, `altered-${randomBytes(4).toString('hex')}.tar`);
  const parts = members
    .filter(([name]) => name !== options.without)
    .flatMap(([name, content]) => [
      encodeHeader(name, content.length),
      content,
      Buffer.alloc(paddingOf(content.length)),
    ]);
  await writeFile(path, Buffer.concat([...parts, archiveEnd]));
  return { path };
}

const same = (description: BundleDescription): BundleDescription => description;

describe('a bundle that is not as it was built', () => {
  it('is refused with a sentence of its own for each fault', async () => {
    await using bundle = await openBundle(good(), trusted);
    const [blob] = bundle.description.blobs;
    const name = blobName(blob?.digest ?? 'sha256:');
    const extra = `oci/blobs/sha256/${'e'.repeat(64)}`;
    const moreInIndex = JSON.parse(indexContent(bundle.description).toString()) as { manifests: object[] };
    moreInIndex.manifests.push({ mediaType: 'x', digest: `sha256:${'e'.repeat(64)}`, size: 1 });
    const faults: [{ path: string }, string, (path: string) => string][] = [
      [
        await alteredBundle(same, { more: { [extra]: Buffer.from('x') } }),
        'BKE_BUNDLE_EXTRA',
        (path) => `${path} has ${extra}, which bundle.json does not name`,
      ],
      [
        await alteredBundle(same, { more: { 'README.md': Buffer.from('x') } }),
        'BKE_BUNDLE_EXTRA',
        (path) => `${path} has README.md, which bundle.json does not name`,
      ],
      [
        await alteredBundle(same, { index: jsonBytes(moreInIndex) }),
        'BKE_BUNDLE_EXTRA',
        (path) => `${path}: oci/index.json does not list what bundle.json lists`,
      ],
      [
        await alteredBundle(same, { without: name }),
        'BKE_BUNDLE_INCOMPLETE',
        (path) => `${path} lacks ${name}, which bundle.json names`,
      ],
      [
        await alteredBundle(same, { without: 'bundle.json' }),
        'BKE_BUNDLE_FORMAT',
        (path) => `${path} is a tar file but no bundle: it does not begin with bundle.json`,
      ],
      [
        await alteredBundle((d) => ({ ...d, format: 2 })),
        'BKE_BUNDLE_FORMAT',
        (path) => `${path} is a bundle of format 2; this bke knows format 1`,
      ],
      [
        await alteredBundle((d) => ({ ...d, platforms: [] })),
        'BKE_BUNDLE_FORMAT',
        (path) => `${path}: bundle.json is not valid`,
      ],
      [
        await alteredBundle((d) => ({ ...d, bke: '0.9.0' })),
        'BKE_BUNDLE_VERSION',
        (path) => `${path} (test 1.0.0) is newer than this bke can use: it was built by bke 0.9.0, this is 0.1.0`,
      ],
      [
        await alteredBundle((d) => ({ ...d, bke: 'x' })),
        'BKE_BUNDLE_VERSION',
        (path) => `${path} (test 1.0.0) is newer than this bke can use: it was built by bke x, this is 0.1.0`,
      ],
    ];
    for (const [{ path }, code, message] of faults) {
      await expect(openBundle(path, trusted)).rejects.toMatchObject({ code, message: message(path) });
    }
  });

  it('is refused when it is no readable file', async () => {
    await expect(openBundle(join(folder, 'nowhere.tar'))).rejects.toMatchObject({
      code: 'BKE_BUNDLE_UNREADABLE',
      message: `can't read the bundle ${join(folder, 'nowhere.tar')}: there is no such file`,
    });
    await expect(openBundle(folder)).rejects.toMatchObject({
      code: 'BKE_BUNDLE_UNREADABLE',
      message: `can't read the bundle ${folder}: it is no plain file`,
    });
  });

  it('is found out wherever one bit was flipped', async () => {
    const bytes = await readFile(good());
    const path = join(folder, 'flipped.tar');
    await writeFile(path, bytes);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 0, max: 7 }),
        async (at, bit) => {
          const flipped = Buffer.from(bytes);
          flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
          await writeFile(path, flipped);
          expect(await findsFault(path)).toBe(true);
        },
      ),
      {
        numRuns: 150,
        examples: [
          [0, 0],
          [600, 3],
          [bytes.length - 1, 7],
        ],
      },
    );
  });

  it('names every image and file that a damaged blob belongs to', async () => {
    const bytes = await readFile(good());
    const at = bytes.indexOf('x'.repeat(1000));
    bytes[at + 500] = 'y'.charCodeAt(0);
    const path = join(folder, 'damaged.tar');
    await writeFile(path, bytes);
    await using bundle = await openBundle(path, trusted);
    const layer = digestOf(Buffer.alloc(100_000, 'x'));
    expect((await verifyBundle(bundle)).faults).toEqual([
      { item: 'image docker.io/library/image:1.0', message: `the blob ${layer} is damaged` },
    ]);
  });

  it('has faults told that only its manifests show', async () => {
    const drop = (list: object, key: string) =>
      Object.fromEntries(Object.entries(list).filter(([name]) => name !== key));
    const { path } = await alteredBundle((description) => ({
      ...description,
      entries: description.entries.map((entry) => {
        if (entry.kind === 'image')
          return { ...entry, platforms: { ...entry.platforms, 'linux/arm64': entry.platforms['linux/amd64'] } };
        return entry.kind === 'file' && entry.name === 'tool'
          ? { ...entry, variants: drop(entry.variants, 'linux/arm64') }
          : entry;
      }),
    }));
    await using bundle = await openBundle(path, trusted);
    const { faults } = await verifyBundle(bundle);
    expect(faults.map(({ item, message }) => `${item}: ${message.replaceAll(/sha256:[0-9a-f]+/g, 'D')}`)).toEqual([
      'file tool 1.0.0: there is nothing for linux/arm64',
      'image docker.io/library/image:1.0: what is listed for linux/arm64 is for linux/amd64',
      'image docker.io/library/image:1.0: its index names D, which no platform needs',
    ]);
  });
});

async function findsFault(path: string): Promise<boolean> {
  try {
    await using bundle = await openBundle(path, trusted);
    return (await verifyBundle(bundle)).faults.length > 0;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('BKE_BUNDLE_');
  }
}

describe('loading files and charts', () => {
  it('puts each at its path, and a second time does nothing', async () => {
    const place = join(folder, 'a path', 'with spaces');
    await mkdir(join(folder, 'a path'));
    const copy = join(folder, 'a path', 'my bundle.tar');
    await writeFile(copy, await readFile(good()));
    await chmod(copy, 0o444);
    await using bundle = await openBundle(copy, trusted);
    const files = await openFileRepository(place);
    const seen: number[] = [];
    const first = await loadBundle(bundle, { files }, { onProgress: ({ done, total }) => seen.push(done / total) });
    expect(first).toMatchObject({ files: { loaded: 3, present: 0 }, charts: { loaded: 1, present: 0 }, changed: true });
    expect(seen.at(-1)).toBe(1);
    expect(await readFile(join(place, 'files/tools/linux/arm64/tool'), 'utf8')).toBe('#!/bin/sh\necho arm64\n');
    expect((await files.list('charts')).map(({ path }) => path)).toEqual(['app-1.2.3.tgz']);
    expect(await loadBundle(bundle, { files })).toMatchObject({
      bytes: 0,
      changed: false,
      files: { loaded: 0, present: 3 },
    });
  });

  it('brings back what was cut, emptied or changed since, and only that', async () => {
    const place = join(folder, 'mended');
    await using bundle = await openBundle(good(), trusted);
    const files = await openFileRepository(place);
    await loadBundle(bundle, { files });
    const tool = join(place, 'files/tools/linux/arm64/tool');
    const before = await readFile(tool);
    const damages = [
      () => truncate(tool, before.length - 1),
      () => writeFile(tool, ''),
      async () => {
        const file = await open(tool, 'r+');
        const { mtime, atime } = await file.stat();
        await file.write('X', 3);
        await file.utimes(atime, mtime);
        await file.close();
      },
    ];
    for (const damage of damages) {
      await damage();
      expect(await loadBundle(bundle, { files })).toMatchObject({
        files: { loaded: 1, present: 2 },
        bytes: before.length,
      });
      expect(await readFile(tool)).toEqual(before);
    }
  });

  it('leaves nothing of a file whose blob is damaged', async () => {
    const bytes = await readFile(good());
    bytes[bytes.indexOf('echo arm64')] = 'E'.charCodeAt(0);
    const path = join(folder, 'bad-tool.tar');
    await writeFile(path, bytes);
    await using bundle = await openBundle(path, trusted);
    const files = await openFileRepository(join(folder, 'nothing-half'));
    await expect(loadBundle(bundle, { files })).rejects.toMatchObject({
      code: 'BKE_BUNDLE_DAMAGED',
      message: expect.stringMatching(
        /^\S+bad-tool\.tar is damaged: the blob sha256:[0-9a-f]{64} is sha256:[0-9a-f]{64}$/,
      ),
    });
    expect(await files.find('files', 'tools/linux/arm64/tool')).toBeUndefined();
    expect(await readdir(join(folder, 'nothing-half/files/tools/linux/arm64'))).toEqual([]);
  });
});

describe('a bundle of another release', () => {
  const described = { bke: '0.4.2', name: 'test', version: '1.0.0' } as BundleDescription;

  it.each(['0.3.0', '0.4.9', '0.5.1', '0.4.0-rc.1'])('is taken by bke %s, at most one release apart', (own) => {
    expect(() => requireVersion(described, own, 'b.tar')).not.toThrow();
  });

  it.each([
    ['0.6.0', 'older'],
    ['1.4.0', 'older'],
    ['0.2.0', 'newer'],
  ])('is refused by bke %s as %s', (own, direction) => {
    expect(() => requireVersion(described, own, 'b.tar')).toThrow(
      `b.tar (test 1.0.0) is ${direction} than this bke can use: it was built by bke 0.4.2, this is ${own}`,
    );
  });
});

describe('keys', () => {
  it('are told apart by what they are', async () => {
    const { readSigningKey, readTrustKey } = await import('../../../src/release/trust.ts');
    const pem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const publicPem = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await writeFile(join(folder, 'key.pem'), pem);
    await writeFile(join(folder, 'key.pub'), publicPem);
    expect((await readSigningKey(join(folder, 'key.pem'))).equals(createPrivateKey(pem))).toBe(true);
    expect((await readTrustKey(join(folder, 'key.pub'))).equals(createPublicKey(publicPem))).toBe(true);
    await expect(readTrustKey(join(folder, 'key.pem'))).rejects.toMatchObject({
      code: 'BKE_KEY_INVALID',
      message: `${join(folder, 'key.pem')} is no Ed25519 public key in PEM form: it holds a private key`,
    });
    await expect(readSigningKey(join(folder, 'none'))).rejects.toMatchObject({
      message: `${join(folder, 'none')} is no Ed25519 private key in PEM form: there is no such file`,
    });
  });
});
