// Everything in a tree as one text per path, so that two states of a host can be compared by value.
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface SnapshotOptions {
  /** Paths below the top that are left out with all below them. */
  readonly without?: readonly string[];
  /** Paths (with all below them) whose modification times are not compared. */
  readonly timeless?: readonly string[];
}

export type Snapshot = Readonly<Record<string, string>>;

function isBelow(path: string, tops: readonly string[]): boolean {
  return tops.some((top) => path === top || path.startsWith(`${top}/`));
}

async function describe(path: string, timeless: boolean): Promise<string> {
  const stat = await lstat(path, { bigint: true });
  const attributes = `${(stat.mode & 0o7777n).toString(8)} ${stat.uid}:${stat.gid}`;
  if (stat.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (stat.isDirectory()) return `directory ${attributes}`;
  if (!stat.isFile()) return `other ${attributes}`;
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 12);
  return `file ${attributes} ${stat.size} ${digest}${timeless ? '' : ` ${stat.mtimeNs}`}`;
}

/** Directories have no time in it: their time changes with what is put in and taken out again. */
export async function snapshot(top: string, options: SnapshotOptions = {}): Promise<Snapshot> {
  const found: Record<string, string> = {};
  const walk = async (relative: string): Promise<void> => {
    for (const name of (await readdir(join(top, relative))).sort()) {
      const path = `${relative}/${name}`;
      if (isBelow(path, options.without ?? [])) continue;
      const text = await describe(join(top, path), isBelow(path, options.timeless ?? []));
      found[path] = text;
      if (text.startsWith('directory')) await walk(path);
    }
  };
  await walk('');
  return found;
}
