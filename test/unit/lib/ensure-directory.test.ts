import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureDirectory } from '../../../src/lib/ensure-directory.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bke-ensure-'));
});
afterAll(async () => rm(directory, { recursive: true }));

it('makes what is missing, with the mode, and does not mind what is there', async () => {
  const path = join(directory, 'a/b/c');
  await ensureDirectory(path, 0o700);
  await ensureDirectory(path, 0o700);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, 'a'))).mode & 0o777).toBe(0o700);
});

it('gives the mode that was asked for under a narrow umask', async () => {
  const before = process.umask(0o077);
  try {
    await ensureDirectory(join(directory, 'open/inner'), 0o755);
  } finally {
    process.umask(before);
  }
  expect((await stat(join(directory, 'open'))).mode & 0o777).toBe(0o755);
  expect((await stat(join(directory, 'open/inner'))).mode & 0o777).toBe(0o755);
});

it('ends where the kernel makes no directories, and where a file is in the way', async () => {
  await expect(ensureDirectory('/proc/nowhere/deeper', 0o700)).rejects.toThrow('ENOENT');
  await writeFile(join(directory, 'file'), '');
  await expect(ensureDirectory(join(directory, 'file/below'), 0o700)).rejects.toThrow('ENOTDIR');
});
