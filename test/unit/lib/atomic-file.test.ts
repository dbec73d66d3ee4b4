import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAtomically, writeTarget } from '../../../src/lib/atomic-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-atomic-'));
});
afterEach(async () => rm(folder, { recursive: true }));

const write = (path: string) => writeAtomically(path, 0o644, async (file) => file.writeFile('new'));

describe('writing atomically', () => {
  it('makes a file and replaces one', async () => {
    const path = join(folder, 'file');
    await write(path);
    await writeFile(path, 'old');
    await write(path);
    expect(await readFile(path, 'utf8')).toBe('new');
  });

  it('leaves a pipe, a socket and a directory as they are, and no draft', async () => {
    await execa('mkfifo', [join(folder, 'pipe')]);
    await mkdir(join(folder, 'directory'));
    await using server = createServer().listen(join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    for (const [name, kind] of [
      ['pipe', 'a named pipe'],
      ['socket', 'a socket'],
      ['directory', 'a directory'],
    ] as const) {
      const path = join(folder, name);
      const before = await lstat(path);
      const refusal = { code: 'BKE_USAGE', message: `cannot write ${path}: ${kind} is there` };
      await expect(write(path)).rejects.toMatchObject(refusal);
      await expect(writeTarget(path)).rejects.toMatchObject(refusal);
      expect((await lstat(path)).ino).toBe(before.ino);
    }
    expect((await readdir(folder)).sort()).toEqual(['directory', 'pipe', 'socket']);
  });

  it('leaves what came to be there while it wrote', async () => {
    const path = join(folder, 'late');
    const late = writeAtomically(path, 0o644, async () => {
      await execa('mkfifo', [path]);
    });
    await expect(late).rejects.toMatchObject({ code: 'BKE_USAGE' });
    expect((await lstat(path)).isFIFO()).toBe(true);
    expect(await readdir(folder)).toEqual(['late']);
  });
});

describe('the target of a write', () => {
  it('lies behind links, also where it is not there yet', async () => {
    await mkdir(join(folder, 'far'));
    await symlink('far/file', join(folder, 'link'));
    await symlink('link', join(folder, 'second'));
    expect(await writeTarget(join(folder, 'second'))).toBe(join(folder, 'far', 'file'));
    await write(await writeTarget(join(folder, 'second')));
    expect(await readFile(join(folder, 'far', 'file'), 'utf8')).toBe('new');
    expect(await readlink(join(folder, 'link'))).toBe('far/file');
  });

  it('is refused behind a loop of links, and where a link leads to a pipe', async () => {
    await symlink('b', join(folder, 'a'));
    await symlink('a', join(folder, 'b'));
    await expect(writeTarget(join(folder, 'a'))).rejects.toMatchObject({ code: 'BKE_USAGE' });
    await execa('mkfifo', [join(folder, 'pipe')]);
    await symlink('pipe', join(folder, 'link'));
    await expect(writeTarget(join(folder, 'link'))).rejects.toMatchObject({ code: 'BKE_USAGE' });
  });
});
