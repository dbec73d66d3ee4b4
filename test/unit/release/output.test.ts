import { link, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildIn, makeSources, temporaryFolder } from '../../fakes/release.ts';

let folder: string;
let artifacts: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  artifacts = await makeSources(folder);
  await writeFile(join(folder, 'key.pem'), 'the key');
});
afterAll(async () => rm(folder, { recursive: true }));

const inputs = () => [{ path: join(folder, 'key.pem'), what: 'the signing key' }];

describe('the output of a build', () => {
  it('is never one of its inputs, by whatever name', async () => {
    await link(join(folder, 'key.pem'), join(folder, 'hard'));
    await symlink('key.pem', join(folder, 'soft'));
    await symlink('.', join(folder, 'here'));
    for (const name of ['key.pem', 'hard', 'soft', 'here/key.pem']) {
      await expect(buildIn(folder, artifacts, { output: join(folder, name), inputs: inputs() })).rejects.toMatchObject({
        code: 'BKE_USAGE',
        message: `cannot write the bundle to ${join(folder, name)}: it is the signing key`,
      });
    }
    expect(await readFile(join(folder, 'key.pem'), 'utf8')).toBe('the key');
  });

  it('is never one of the sources or a part of a layout', async () => {
    for (const name of ['tool-amd64', 'image/index.json', 'image/oci-layout']) {
      const before = await readFile(join(folder, name));
      await expect(buildIn(folder, artifacts, { output: join(folder, name) })).rejects.toMatchObject({
        code: 'BKE_USAGE',
      });
      expect(await readFile(join(folder, name))).toEqual(before);
    }
  });

  it('goes where a link leads, and replaces an older bundle', async () => {
    await mkdir(join(folder, 'share'));
    await symlink('share/bundle.tar', join(folder, 'latest'));
    const first = await buildIn(folder, artifacts, { output: join(folder, 'latest') });
    const again = await buildIn(folder, artifacts, { output: join(folder, 'latest') });
    expect(again.digest).toBe(first.digest);
    expect((await lstat(join(folder, 'latest'))).isSymbolicLink()).toBe(true);
    expect((await lstat(join(folder, 'share/bundle.tar'))).size).toBe(first.size);
  });
});

describe('a source', () => {
  it('that is a pipe, a device or a directory is refused by name, without waiting', async () => {
    await execa('mkfifo', [join(folder, 'pipe')]);
    for (const [file, kind] of [
      [join(folder, 'pipe'), 'a named pipe'],
      ['/dev/zero', 'a device'],
      [folder, 'a directory'],
    ] as const) {
      const entry = `- {kind: file, name: a, version: '1', path: 'a/{platform}/a', type: other, sources: {linux/amd64: {file: '${file}'}}}`;
      await expect(buildIn(folder, entry, { platforms: ['linux/amd64'] })).rejects.toMatchObject({
        code: 'BKE_ARTIFACT_UNUSABLE',
        message: expect.stringContaining(`cannot read ${file}: it is ${kind}`),
      });
    }
  });
});
