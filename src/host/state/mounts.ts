// The mounts of a mount namespace, from /proc/<pid>/mountinfo (proc(5)).

export interface Mount {
  readonly id: number;
  readonly parent: number;
  /** major:minor */
  readonly device: string;
  /** The directory of the file system that is mounted here; not '/' for bind mounts of a part. */
  readonly root: string;
  readonly mountPoint: string;
  readonly options: readonly string[];
  /** e.g. `shared:12`; empty for a private mount. */
  readonly propagation: readonly string[];
  readonly fileSystem: string;
  readonly source: string;
  readonly superOptions: readonly string[];
}

/** The kernel, and fstab(5), write space, tab, newline and backslash as octal. */
export function decodePath(field: string): string {
  return field.replaceAll(/\\(0\d\d|1[0-7]\d)/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function parseLine(line: string): Mount | undefined {
  const fields = line.split(' ');
  const separator = fields.indexOf('-', 6);
  const [id, parent, device, root, mountPoint, options] = fields;
  const [fileSystem, source, superOptions] = fields.slice(separator + 1);
  if (separator < 0 || mountPoint === undefined || root === undefined || fileSystem === undefined) return undefined;
  return {
    id: Number(id),
    parent: Number(parent),
    device: device ?? '',
    root: decodePath(root),
    mountPoint: decodePath(mountPoint),
    options: (options ?? '').split(','),
    propagation: fields.slice(6, separator),
    fileSystem: decodePath(fileSystem),
    source: decodePath(source ?? ''),
    superOptions: (superOptions ?? '').split(','),
  };
}

/** In the kernel's order: a later mount on the same place lies on top. Unmount in reverse. */
export function parseMountInfo(text: string): Mount[] {
  return text
    .split('\n')
    .map(parseLine)
    .filter((mount) => mount !== undefined);
}

/** Whether `path` is `top` or lies below it. */
export function isWithin(path: string, top: string): boolean {
  return path === top || path.startsWith(top === '/' ? '/' : `${top}/`);
}

/** Mounts on or below a path (canonical, without symbolic links). */
export function mountsWithin(mounts: readonly Mount[], top: string): Mount[] {
  return mounts.filter((mount) => isWithin(mount.mountPoint, top));
}
