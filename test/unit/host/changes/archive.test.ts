// Unpacked archives: what must not be in one is refused before anything is used; exactly its files go again.
import { mkdir, readFile, readlink, symlink, unlink, writeFile } from 'node:fs/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';
import { digestOf } from '../../../../src/lib/digest.ts';
import { undoAll } from '../../../fakes/ledger.ts';
import { makeTar, type TarEntry } from '../../../fakes/archives.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';
import { snapshot } from '../../../fakes/snapshot.ts';

const destination = '/usr/local/libexec/bke/pkg-1';
let host: FakeHost;

beforeEach(async () => {
  host = await FakeHost.make();
});

afterEach(async () => {
  await host.dispose();
});

async function unpack(archive: Buffer, options: { strip?: number; digest?: string } = {}): Promise<boolean> {
  await writeFile(host.at('/pkg.tar'), archive);
  const ledger = await openLedger(host, { operation: 'op', command: 'bke init' });
  try {
    const { strip = 0, digest = digestOf(archive) } = options;
    return (await ledger.apply('services', { kind: 'archive', source: '/pkg.tar', digest, destination, strip }))
      .changed;
  } finally {
    await ledger.close();
  }
}

const good: TarEntry[] = [
  { name: './', type: 'directory' },
  { name: './bin/tool', mode: 0o4711, content: 'tool' },
  { name: './share/doc.txt', mode: 0o666, content: 'doc' },
  { name: './share/current', type: 'symlink', linkname: '../bin/tool' },
  { name: './bin/again', type: 'link', linkname: './bin/tool' },
];

test.each([
  ['tar', (tar: Buffer) => tar],
  ['tar.gz', (tar: Buffer) => gzipSync(tar)],
  ['tar.zst', (tar: Buffer) => zstdCompressSync(tar)],
])('a %s is unpacked with plain modes and root as owner, whatever it says', async (_name, compress) => {
  expect(await unpack(compress(await makeTar(good)))).toBe(true);
  const found = await snapshot(host.at(destination), { timeless: [''] });
  expect(
    Object.fromEntries(Object.entries(found).map(([path, text]) => [path, text.split(' ').slice(0, 3).join(' ')])),
  ).toEqual({
    '/bin': 'directory 755 0:0',
    '/bin/again': 'file 755 0:0',
    '/bin/tool': 'file 755 0:0',
    '/share': 'directory 755 0:0',
    '/share/current': 'link ../bin/tool',
    '/share/doc.txt': 'file 644 0:0',
  });
  expect(await unpack(compress(await makeTar(good)))).toBe(false);
});

describe('refused, with nothing put in place', () => {
  const file: TarEntry = { name: 'ok', content: 'ok' };
  test.each<[string, TarEntry[]]>([
    ['an absolute path', [file, { name: '/etc/evil', content: 'x' }]],
    ['a path upwards', [file, { name: 'a/../../evil', content: 'x' }]],
    ['a link to an absolute path', [file, { name: 'l', type: 'symlink', linkname: '/etc' }]],
    ['a link that leads out', [file, { name: 'a/l', type: 'symlink', linkname: '../../out' }]],
    ['a file behind a link', [file, { name: 'l', type: 'symlink', linkname: '.' }, { name: 'l/f', content: 'x' }]],
    ['a hard link to what it does not hold', [file, { name: 'h', type: 'link', linkname: 'etc/shadow' }]],
    ['a hard link upwards', [file, { name: 'h', type: 'link', linkname: '../../etc/shadow' }]],
    ['a block device', [file, { name: 'd', type: 'block-device' }]],
    ['a character device', [file, { name: 'd', type: 'character-device' }]],
    ['a pipe', [file, { name: 'p', type: 'fifo' }]],
  ])('%s', async (_name, entries) => {
    await expect(unpack(await makeTar(entries))).rejects.toMatchObject({ code: 'BKE_ARCHIVE_UNSAFE', exitCode: 3 });
    expect(await host.files.list(destination)).toEqual([]);
  });

  test('another archive than the one meant, or a cut one', async () => {
    const tar = gzipSync(await makeTar(good));
    await expect(unpack(tar, { digest: digestOf('other') })).rejects.toMatchObject({ code: 'BKE_DIGEST_MISMATCH' });
    await expect(unpack(tar.subarray(0, tar.length - 20))).rejects.toMatchObject({ code: 'BKE_ARCHIVE_UNSAFE' });
    expect(await host.files.list(destination)).toEqual([]);
  });

  test('a folder that holds what someone else put there', async () => {
    await mkdir(host.at(destination), { recursive: true });
    await writeFile(host.at(`${destination}/theirs`), 'x');
    await expect(unpack(await makeTar(good))).rejects.toMatchObject({ code: 'BKE_PATH_IN_THE_WAY' });
    expect(await undoAll(host)).toEqual({});
  });
});

test("undone, exactly its files go: another's stay and are named, an edited one is kept", async () => {
  const stripped = [
    { name: 'pkg-1/tool', mode: 0o755, content: 'tool' },
    { name: 'pkg-1/sub/doc', content: 'doc' },
  ];
  await unpack(await makeTar(stripped), { strip: 1 });
  await writeFile(host.at(`${destination}/theirs`), 'x');
  await writeFile(host.at(`${destination}/tool`), 'edited');
  const outcomes = await undoAll(host);
  expect(outcomes[`archive:${destination}`]).toEqual({
    result: 'kept',
    why: 'edited since: 1 of its files',
    keptAt: expect.stringMatching(/^\/var\/lib\/bke-kept\/.*pkg-1\/tool$/),
  });
  expect(outcomes[`directory:${destination}`]).toEqual({ result: 'left', why: 'not empty: theirs' });
  expect(await readFile(host.at(`${destination}/theirs`), 'utf8')).toBe('x');
  expect(await host.files.list(destination)).toEqual(['theirs']);
});

test('undone, a link that someone leads elsewhere is kept as an edited file is', async () => {
  await unpack(await makeTar(good));
  await unlink(host.at(`${destination}/share/current`));
  await symlink('/opt/theirs', host.at(`${destination}/share/current`));
  const outcome = (await undoAll(host))[`archive:${destination}`];
  expect(outcome).toMatchObject({ result: 'kept', why: 'edited since: 1 of its files' });
  expect(await readlink(host.at(outcome?.keptAt ?? ''))).toBe('/opt/theirs');
});
