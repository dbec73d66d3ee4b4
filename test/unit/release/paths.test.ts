import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolders } from '../../../src/release/repository/paths.ts';

it('puts right a folder that a crash left between its making and its mode', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bke-paths-'));
  await mkdir(join(root, 'a'), 0o700);
  await chmod(join(root, 'a'), 0o700);
  await makeFolders(root, 'a/b');
  expect((await stat(join(root, 'a'))).mode & 0o777).toBe(0o755);
  expect((await stat(join(root, 'a/b'))).mode & 0o777).toBe(0o755);
  await rm(root, { recursive: true });
});
