import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import type { BundleDescription } from '../../../src/release/bundle/description.ts';
import { requireVersion } from '../../../src/release/bundle/fitness.ts';
import { blobName, indexContent, jsonBytes, layoutContent } from '../../../src/release/bundle/members.ts';
import { type OpenBundleOptions, openBundle } from '../../../src/release/bundle/open.ts';
import { signatureLine } from '../../../src/release/bundle/signature.ts';
import { archiveEnd, encodeHeader, paddingOf } from '../../../src/release/bundle/tar-header.ts';
import { imageIndex } from '../../../src/release/oci/types.ts';
import { verifyBundle } from '../../../src/release/bundle/verify.ts';
import { keyId } from '../../../src/release/trust.ts';
import { buildIn, makeGoodBundle, signingKeys } from '../../fakes/release.ts';

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

describe('a signed description that could not be loaded', () => {
  const withEntry =
    (kind: string, change: (entry: Record<string, unknown>) => object) => (description: BundleDescription) => ({
      ...description,
      entries: description.entries.map((entry) =>
        entry.kind === kind ? { ...entry, ...change({ ...entry }) } : entry,
      ),
    });
  const variant = (path: string) =>
    withEntry('file', ({ variants }) => ({
      variants: Object.fromEntries(Object.entries(variants ?? {}).map(([name, one]) => [name, { ...one, path }])),
    }));

  it.each([
    ['a path that leads out', variant('../x')],
    ['a path of our own records', variant('.digests/x')],
    ['one path for two files', variant('a/b')],
    ['a chart of another file name', withEntry('chart', () => ({ file: '../app.tgz' }))],
    ['a short image name', withEntry('image', () => ({ ref: 'nginx:1' }))],
    ['a control character', (d: BundleDescription) => ({ ...d, name: 'a\u001B[2J' })],
    ['a name without end', (d: BundleDescription) => ({ ...d, name: 'x'.repeat(100_000) })],
    ['a platform twice', (d: BundleDescription) => ({ ...d, platforms: ['linux/amd64', 'linux/amd64'] })],
    ['a version that is none', (d: BundleDescription) => ({ ...d, kubernetesVersions: ['x y'] })],
  ])('with %s is refused when it is opened', async (_, alter) => {
    const { path } = await alteredBundle(alter);
    await expect(openBundle(path, trusted)).rejects.toMatchObject({ code: 'BKE_BUNDLE_FORMAT' });
  });

  it('with a size that its blob does not have does not pass verification', async () => {
    const { path } = await alteredBundle(withEntry('chart', () => ({ size: 1 })));
    await using bundle = await openBundle(path, trusted);
    expect((await verifyBundle(bundle)).faults).toEqual([
      {
        item: 'chart app 1.2.3',
        message: expect.stringMatching(/^the blob sha256:\w+ should have 1 bytes but has \d+$/),
      },
    ]);
  });

  it('with a chart that is another one does not pass verification', async () => {
    const { path } = await alteredBundle(withEntry('chart', () => ({ version: '9.9.9', file: 'app-9.9.9.tgz' })));
    await using bundle = await openBundle(path, trusted);
    expect((await verifyBundle(bundle)).faults).toEqual([
      { item: 'chart app 9.9.9', message: 'its archive is chart app 1.2.3' },
    ]);
  });
});

/** The good bundle with another description, or other members. */
async function alteredBundle(
  alter: (description: BundleDescription) => BundleDescription | object,
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
  const members: [string, Buffer][] = [
    ['bundle.json', after],
    ['bundle.json.sig', Buffer.from(signatureLine(options.resign === false ? before : after, keys.privateKey))],
    ['oci/oci-layout', layoutContent],
    ['oci/index.json', options.index ?? indexContent({ ...bundle.description, ...altered })],
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
    const index = imageIndex.parse(JSON.parse(indexContent(bundle.description).toString()));
    const one = { mediaType: 'x', digest: `sha256:${'e'.repeat(64)}`, size: 1 };
    const moreInIndex = { ...index, manifests: [...index.manifests, one] };
    const faults: [{ path: string }, string, (path: string) => string][] = [
      [
        await alteredBundle(same, { more: { [extra]: Buffer.from('x') } }),
        'BKE_BUNDLE_EXTRA',
        (path) => `${path} has "${extra}", which bundle.json does not name`,
      ],
      [
        await alteredBundle(same, { more: { 'README.md': Buffer.from('x') } }),
        'BKE_BUNDLE_EXTRA',
        (path) => `${path} has "README.md", which bundle.json does not name`,
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
      message: `cannot read the bundle ${join(folder, 'nowhere.tar')}: there is no such file`,
    });
    await expect(openBundle(folder)).rejects.toMatchObject({
      code: 'BKE_BUNDLE_UNREADABLE',
      message: `cannot read the bundle ${folder}: it is no plain file`,
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
describe('a bundle of another release', () => {
  const described = { bke: '0.4.2', name: 'test', version: '1.0.0' };

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
