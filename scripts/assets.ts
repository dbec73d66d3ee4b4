// The files that go into the binary: everything under assets/ and the licence texts, by path relative to the project.
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Asset key (e.g. `assets/k3s/config.yaml`) -> file on disk, sorted so that two builds are alike. */
export async function bundledAssets(root: string): Promise<Record<string, string>> {
  const entries: [string, string][] = [['LICENSE', join(root, 'LICENSE')]];
  for (const path of await filesUnder(join(root, 'assets'))) entries.push([relative(root, path), path]);
  const notice = join(root, 'dist/NOTICE');
  if (await stat(notice).catch(() => undefined)) entries.push(['NOTICE', notice]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function filesUnder(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
