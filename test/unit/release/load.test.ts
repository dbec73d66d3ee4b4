import { createPrivateKey, createPublicKey } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBundle } from '../../../src/release/bundle/load.ts';
import { type OpenBundleOptions, openBundle } from '../../../src/release/bundle/open.ts';
import { openFileRepository } from '../../../src/release/repository/store.ts';
import { makeGoodBundle, signingKeys } from '../../fakes/release.ts';

const keys = signingKeys();
const trusted: OpenBundleOptions = { trustKeys: [keys.publicKey] };
let folder: string;

beforeAll(async () => {
  ({ folder } = await makeGoodBundle(keys));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const good = () => join(folder, 'good.tar');

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
describe('keys', () => {
  it('are told apart by what they are', async () => {
    const { readSigningKey, readTrustKey } = await import('../../../src/release/trust.ts');
    const pem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const publicPem = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await writeFile(join(folder, 'key.pem'), pem, { mode: 0o600 });
    await writeFile(join(folder, 'key.pub'), publicPem);
    expect((await readSigningKey(join(folder, 'key.pem'))).equals(createPrivateKey(pem))).toBe(true);
    expect((await readTrustKey(join(folder, 'key.pub'))).equals(createPublicKey(publicPem))).toBe(true);
    await expect(readTrustKey(join(folder, 'key.pem'))).rejects.toMatchObject({
      code: 'BKE_KEY_INVALID',
      message: `${join(folder, 'key.pem')} is no Ed25519 public key in PEM form: it holds a private key`,
    });
    await expect(readSigningKey(join(folder, 'none'))).rejects.toMatchObject({
      message: `cannot read ${join(folder, 'none')}: there is no such file`,
    });
    await expect(readSigningKey(join(folder, 'key.pub'))).rejects.toMatchObject({ code: 'BKE_KEY_INVALID' });
    await chmod(join(folder, 'key.pem'), 0o640);
    await expect(readSigningKey(join(folder, 'key.pem'))).rejects.toMatchObject({
      code: 'BKE_SECRET_EXPOSED',
      hint: `Make it yours alone: chmod 600 ${join(folder, 'key.pem')}`,
    });
  });
});
