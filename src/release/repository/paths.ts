// Paths in the repository: nothing that comes from outside can lead out of it.
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../../lib/errno.ts';

/** Plain parts only. Names that begin with a dot are drafts and our own records, never content. */
export function isPlainPath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  return path.split('/').every((part) => part !== '' && !part.startsWith('.') && !/[\u0000-\u001F\u007F\\]/.test(part));
}

/** Longer names leave no room for the draft that is written beside its place: NAME_MAX is 255. */
const longestPart = 200;
const longestPath = 1000;

/** What may be put into the repository: by a release manifest, by bundle.json, by the store. Narrower than what is served, which may be there by hand. */
export function isRepositoryPath(path: string): boolean {
  if (path.length > longestPath) return false;
  return path.split('/').every((part) => part.length <= longestPart && /^[\w+@~-][\w.+@~-]*$/.test(part));
}

/** Paths that can all be files in one repository: each once, and none a folder of another. */
export class PathClaims {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** Why it can't be there beside those claimed before; undefined where it can. */
  claim(path: string): string | undefined {
    const parents = foldersOf(path);
    const above = parents.find((folder) => this.#files.has(folder));
    const fault = this.#files.has(path)
      ? `path ${path} is there twice`
      : this.#folders.has(path)
        ? `path ${path} is a folder of another file`
        : above === undefined
          ? undefined
          : `path ${path} lies below ${above}, which is a file`;
    this.#files.add(path);
    for (const folder of parents) this.#folders.add(folder);
    return fault;
  }
}

/** a/b/c -> a, a/b */
function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The absolute path of a plain file in `root`; undefined where there is none, or where a symbolic link is on the way. */
export async function plainFile(root: string, path: string): Promise<string | undefined> {
  return plainEntry(root, path, 'file');
}

export async function plainDirectory(root: string, path: string): Promise<string | undefined> {
  return plainEntry(root, path, 'directory');
}

async function plainEntry(root: string, path: string, kind: 'file' | 'directory'): Promise<string | undefined> {
  if (!isPlainPath(path)) return undefined;
  const absolute = join(root, path);
  try {
    const stat = await lstat(absolute);
    const right = kind === 'file' ? stat.isFile() : stat.isDirectory();
    return right && (await realpath(dirname(absolute))) === dirname(absolute) ? absolute : undefined;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP')) return undefined;
    throw thrown;
  }
}

/**
 * Makes the folders of `path` below `root`, 0755 whatever the umask; returns the deepest. Below a repository (any root but `/`) they are its own,
 * and one that a crash left with the mode of the umask is put right: nobody but its maker could read what is in it.
 */
export async function makeFolders(root: string, path: string): Promise<string> {
  let folder = root;
  for (const part of path.split('/').filter((name) => name !== '' && name !== '.')) {
    folder = join(folder, part);
    try {
      await mkdir(folder, 0o755);
      await chmod(folder, 0o755);
    } catch (thrown) {
      if (!isErrno(thrown, 'EEXIST')) throw thrown;
      if (root !== '/') await putRight(folder);
    }
  }
  return folder;
}

async function putRight(folder: string): Promise<void> {
  const stat = await lstat(folder);
  if (stat.isDirectory() && (stat.mode & 0o777) !== 0o755) await chmod(folder, 0o755);
}
