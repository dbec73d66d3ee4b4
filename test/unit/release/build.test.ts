import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import { summarise } from '../../../src/release/bundle/inspect.ts';
import { type OpenBundleOptions, openBundle } from '../../../src/release/bundle/open.ts';
import { parseManifest } from '../../../src/release/load-manifest.ts';
import { verifyBundle } from '../../../src/release/bundle/verify.ts';
import { buildIn, entryOf, makeGoodBundle, releaseYaml, signingKeys } from '../../fakes/release.ts';

const keys = signingKeys();
const trusted: OpenBundleOptions = { trustKeys: [keys.publicKey] };
let folder: string;
let artifacts: string;

beforeAll(async () => {
  ({ folder, artifacts } = await makeGoodBundle(keys));
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
    expect(root).toMatchObject({ manifests: [{ digest: entryOf(bundle.description, 'image').digest }] });
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('takes a part of the platforms and rebuilds the index from what is wanted', async () => {
    const built = await buildIn(folder, artifacts, { output: join(folder, 'part.tar'), platforms: ['linux/arm64'] });
    const [tool, , image] = built.description.entries;
    expect(tool).toMatchObject({ variants: { 'linux/arm64': {} } });
    expect(Object.keys(entryOf(built.description, 'file').variants)).toEqual(['linux/arm64']);
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
    const onlyArm = parseManifest(releaseYaml(artifacts, 'linux/arm64'), 'release.yaml');
    await expect(buildIn(folder, artifacts, { manifest: onlyArm, platforms: ['linux/amd64'] })).rejects.toMatchObject({
      code: 'BKE_USAGE',
      message: 'the release is not made for linux/amd64, only for linux/arm64',
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
      message: 'the bundle cannot be built: 8 faults in its sources',
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
