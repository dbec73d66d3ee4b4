// Where in a cluster.yaml a value of a host is written: with the host, or with the defaults of all.
import type { Path } from '../yaml-source.ts';

/** `path`, or that of the default it comes from where the file has nothing at `path` itself. */
export function writtenPath(file: unknown, path: Path): Path {
  const [, part, index, ...rest] = path;
  if (part !== 'hosts' || typeof index !== 'number' || isThere(file, path)) return path;
  const inDefaults = ['spec', 'defaults', ...rest];
  return isThere(file, inDefaults) ? inDefaults : path;
}

export function isThere(file: unknown, path: Path): boolean {
  let found = file;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return false;
    found = Reflect.get(found, key);
  }
  return found !== undefined && found !== '';
}
