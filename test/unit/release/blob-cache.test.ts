import { open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf, hexOf } from '../../../src/lib/digest.ts';
import { BlobCache, type RemoteBlob } from '../../../src/release/sources/blob-cache.ts';
import { temporaryFolder } from '../../fakes/release.ts';

const content = Buffer.from('the content of a blob, in some pieces');
const digest = digestOf(content);
let dir: string;
let cache: BlobCache;
let asked: number[];

beforeEach(async () => {
  dir = await temporaryFolder();
  cache = new BlobCache(dir);
  asked = [];
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

const path = () => join(dir, 'sha256', hexOf(digest));

function remote(
  give: (offset: number) => Buffer = (offset) => content.subarray(offset),
  breakAfter?: number,
): RemoteBlob {
  return {
    digest,
    size: content.length,
    where: 'somewhere/x',
    fetch: async function* fetch(offset) {
      asked.push(offset);
      const bytes = give(offset);
      yield bytes.subarray(0, breakAfter ?? bytes.length);
      if (breakAfter !== undefined) throw new Error('the line is dead');
    },
  };
}

describe('a cached blob', () => {
  it('is fetched once and then used again', async () => {
    expect(await buffer((await cache.ensure(remote())).open())).toEqual(content);
    expect(await buffer((await cache.ensure(remote())).open())).toEqual(content);
    expect(asked).toEqual([0]);
  });

  it.each([
    ['lost its last byte', () => truncate(path(), content.length - 1)],
    ['was emptied', () => writeFile(path(), '')],
    [
      'was changed in place with its old times',
      async () => {
        const file = await open(path(), 'r+');
        const { atime, mtime } = await file.stat();
        await file.write('X', 5);
        await file.utimes(atime, mtime);
        await file.close();
      },
    ],
  ])('that %s is fetched again', async (_what, damage) => {
    await cache.ensure(remote());
    await damage();
    expect(await buffer((await cache.ensure(remote())).open())).toEqual(content);
    expect(asked).toEqual([0, 0]);
  });

  it('goes on where a broken run left it', async () => {
    await expect(cache.ensure(remote(undefined, 10))).rejects.toThrow('the line is dead');
    expect(await readdir(join(dir, 'sha256'))).toEqual([`${hexOf(digest)}.part`]);
    expect(await buffer((await new BlobCache(dir).ensure(remote())).open())).toEqual(content);
    expect(asked).toEqual([0, 10]);
    expect(await readdir(join(dir, 'sha256'))).toEqual([hexOf(digest)]);
  });

  it('whose beginning rotted meanwhile is fetched anew from its start', async () => {
    await expect(cache.ensure(remote(undefined, 10))).rejects.toThrow();
    await writeFile(`${path()}.part`, 'rotten....');
    expect(await buffer((await cache.ensure(remote())).open())).toEqual(content);
    expect(asked).toEqual([0, 10, 0]);
  });

  it('that is wrong twice is refused with both digests and the source, and nothing of it stays', async () => {
    const other = Buffer.from('something else');
    await expect(cache.ensure(remote(() => other))).rejects.toMatchObject({
      code: 'BKE_DIGEST_MISMATCH',
      message: `somewhere/x should be ${digest} but is ${digestOf(other)} (14 bytes); it was fetched twice`,
    });
    expect(asked).toEqual([0, 0]);
    expect(await readdir(join(dir, 'sha256'))).toEqual([]);
    await expect(readFile(path())).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
