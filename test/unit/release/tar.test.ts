import { execFileSync } from 'node:child_process';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { type Header, pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveEnd, decodeHeader, encodeHeader, paddingOf } from '../../../src/release/bundle/tar-header.ts';
import { indexTar, type TarMember } from '../../../src/release/bundle/tar-index.ts';
import { temporaryFolder } from '../../fakes/release.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

let count = 0;

async function index(bytes: Buffer): Promise<TarMember[]> {
  count += 1;
  const path = join(folder, `${count}.tar`);
  await writeFile(path, bytes);
  const file = await open(path, 'r');
  try {
    return await indexTar(file, 'b.tar');
  } finally {
    await file.close();
  }
}

function archive(members: readonly { readonly name: string; readonly content: Buffer }[]): Buffer {
  const parts = members.flatMap(({ name, content }) => [
    encodeHeader(name, content.length),
    content,
    Buffer.alloc(paddingOf(content.length)),
  ]);
  return Buffer.concat([...parts, archiveEnd]);
}

async function foreignArchive(
  entries: readonly { readonly header: Partial<Header> & { readonly name: string }; readonly content?: string }[],
): Promise<Buffer> {
  const stream = pack();
  for (const { header, content } of entries) stream.entry(header, content ?? '');
  stream.finalize();
  return buffer(stream);
}

const names = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,20}(?:\/[a-z0-9.-]{1,20}x){0,3}$/), {
  minLength: 1,
  maxLength: 8,
});

describe('the tar of a bundle', () => {
  it('is found again as it was written, whatever the names and sizes', async () => {
    await fc.assert(
      fc.asyncProperty(names, fc.infiniteStream(fc.uint8Array({ maxLength: 1500 })), async (paths, contents) => {
        const members = paths.map((name) => ({ name, content: Buffer.from(contents.next().value ?? []) }));
        const bytes = archive(members);
        const found = await index(bytes);
        expect(found.map(({ name }) => name)).toEqual(paths);
        for (const [i, { offset, size }] of found.entries()) {
          expect(bytes.subarray(offset, offset + size)).toEqual(members[i]?.content);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is readable by the tar of the system', async () => {
    const path = join(folder, 'system.tar');
    await writeFile(path, archive([{ name: 'bundle.json', content: Buffer.from('{}') }]));
    const listing = execFileSync('tar', ['--numeric-owner', '--utc', '-tvf', path], { encoding: 'utf8' });
    expect(listing).toBe('-rw-r--r-- 0/0               2 1970-01-01 00:00 bundle.json\n');
  });

  it('takes what other tars write: ustar prefixes, pax and GNU long names', async () => {
    const long = `${'d'.repeat(90)}/${'f'.repeat(90)}`;
    const longer = `${'p'.repeat(200)}/file`;
    const found = await index(
      await foreignArchive([
        { header: { name: long }, content: 'one' },
        { header: { name: longer }, content: 'three' },
      ]),
    );
    expect(found.map(({ name, size }) => ({ name, size }))).toEqual([
      { name: long, size: 3 },
      { name: longer, size: 5 },
    ]);
    await writeFile(join(folder, 'g'.repeat(120)), 'gnu');
    execFileSync('tar', ['--format=gnu', '-cf', 'gnu.tar', 'g'.repeat(120)], { cwd: folder });
    const gnu = await index(await readFile(join(folder, 'gnu.tar')));
    expect(gnu.map(({ name, size }) => ({ name, size }))).toEqual([{ name: 'g'.repeat(120), size: 3 }]);
  });

  it('holds members larger than 8 GiB', async () => {
    const size = 9 * 1024 ** 3 + 7;
    const path = join(folder, 'large.tar');
    const file = await open(path, 'w+');
    try {
      const header = encodeHeader('large', size);
      await file.write(header, 0, header.length, 0);
      await file.truncate(header.length + size + paddingOf(size));
      const next = Buffer.concat([encodeHeader('next', 0), archiveEnd]);
      await file.write(next, 0, next.length, header.length + size + paddingOf(size));
      const found = await indexTar(file, path);
      expect(found.map((member) => [member.name, member.size])).toEqual([
        ['large', size],
        ['next', 0],
      ]);
      expect(execFileSync('tar', ['-tf', path], { encoding: 'utf8' })).toBe('large\nnext\n');
    } finally {
      await file.close();
      await rm(path);
    }
  });

  const whole = archive([
    { name: 'bundle.json', content: Buffer.from('{"format":1}') },
    { name: 'oci/blobs/x', content: Buffer.alloc(700, 'b') },
  ]);

  it('is never found whole when it was cut off anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1 }), async (length) => {
        // Too short for a first header it could be anything.
        const code = length < 512 ? 'BKE_BUNDLE_FORMAT' : 'BKE_BUNDLE_TRUNCATED';
        await expect(index(whole.subarray(0, length))).rejects.toMatchObject({ code });
      }),
      { numRuns: 60 },
    );
  });

  it("shows a flipped bit outside the members' own bytes", async () => {
    const content = [
      [512, 524],
      [1536, 2236],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: whole.length - 1 }),
        fc.integer({ min: 0, max: 7 }),
        async (at, bit) => {
          fc.pre(!content.some(([from = 0, to = 0]) => at >= from && at < to));
          const bytes = Buffer.from(whole);
          bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
          await expect(index(bytes)).rejects.toMatchObject({
            code: expect.stringMatching(/^BKE_BUNDLE_(DAMAGED|TRUNCATED)$/),
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('says of each fault what it is', async () => {
    const refusals: [Buffer, string, string][] = [
      [
        whole.subarray(0, 1600),
        'BKE_BUNDLE_TRUNCATED',
        'b.tar is cut off: it has 1600 bytes, but "oci/blobs/x" needs bytes up to 2236',
      ],
      [
        Buffer.from('no tar '.repeat(100)),
        'BKE_BUNDLE_DAMAGED',
        'b.tar is damaged at byte 0: this is no tar file, so no bundle',
      ],
      [Buffer.alloc(0), 'BKE_BUNDLE_FORMAT', 'b.tar is no bundle: it has 0 bytes'],
      [
        archive([
          { name: 'a', content: Buffer.from('1') },
          { name: 'a', content: Buffer.from('2') },
        ]),
        'BKE_BUNDLE_DUPLICATE',
        'b.tar has two members named "a"',
      ],
      [
        Buffer.concat([whole, Buffer.from('more')]),
        'BKE_BUNDLE_DAMAGED',
        'b.tar is damaged at byte 2560: there is something after the end mark',
      ],
      [
        archive([{ name: '../x', content: Buffer.from('') }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the name "../x" leads out of the bundle',
      ],
      [
        archive([{ name: 'oci/../../x', content: Buffer.from('') }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the name "oci/../../x" leads out of the bundle',
      ],
      [
        archive([{ name: '/etc/passwd', content: Buffer.from('') }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the member "/etc/passwd" has an absolute name',
      ],
      [
        archive([{ name: './x', content: Buffer.from('') }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the name "./x" is not in its plain form',
      ],
      [
        await foreignArchive([{ header: { name: 'x', type: 'symlink', linkname: '/etc/passwd' } }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the member "x" is a symbolic link; a bundle has only plain files',
      ],
      [
        await foreignArchive([{ header: { name: 'x', type: 'link', linkname: 'bundle.json' } }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the member "x" is a hard link; a bundle has only plain files',
      ],
      [
        await foreignArchive([{ header: { name: 'oci', type: 'directory' } }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the member "oci" is a directory; a bundle has only plain files',
      ],
      [
        await foreignArchive([{ header: { name: 'null', type: 'character-device' } }]),
        'BKE_BUNDLE_UNSAFE_NAME',
        'b.tar: the member "null" is a device; a bundle has only plain files',
      ],
    ];
    for (const [bytes, code, message] of refusals) await expect(index(bytes)).rejects.toMatchObject({ code, message });
  });
});

describe('a tar header', () => {
  it('refuses names that do not fit instead of cutting them', () => {
    expect(() => encodeHeader('n'.repeat(101), 1)).toThrow('the name is too long for a bundle');
  });

  it('is read back', () => {
    expect(decodeHeader(encodeHeader('oci/index.json', 42))).toEqual({ name: 'oci/index.json', size: 42, type: '0' });
  });
});
