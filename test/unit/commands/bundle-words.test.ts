import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../fakes/cli.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-bundle-words-'));
  await writeFile(join(folder, 'small'), 'hi\n');
  await symlink('/etc', join(folder, 'link'));
});
afterEach(async () => rm(folder, { recursive: true }));

describe('what bundle commands say of a wrong file or target', () => {
  it.each([
    ['bundle inspect small', 3, 'small is no bundle: it has 3 bytes\nhint: '],
    ['bundle verify none.tar', 3, 'none.tar: there is no such file\nhint: '],
    ['bundle verify small --trust-key nope.pub', 3, ']: cannot read nope.pub: there is no such file\nhint: '],
    ['bundle build -f small -o o --platform arm64', 2, "Did you mean '--platform=linux/arm64'?"],
    ['bundle load small', 2, ']: --registry HOST:PORT or --files DIR is missing: where to load to\nhint: '],
    ['bundle load small --files /etc', 3, ']: --files: /etc belongs to the system\nhint: '],
    ['bundle load small --files link', 3, ']: --files: /etc belongs to the system\nhint: '],
    ['bundle load small --files /var/lib', 3, ']: --files: /var/lib is a directory of the system'],
  ])('bke %s', async (line, exitCode, told) => {
    const { code, stdout, stderr } = await runCli(line.split(' '), { cwd: folder });
    expect([code, stdout]).toEqual([exitCode, '']);
    expect(stderr).toContain(told);
  });
});
