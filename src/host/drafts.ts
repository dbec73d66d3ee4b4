// Names of the temporary files that lie beside a file while it is being written, so that what a crash left can be told from others' files.
import { createHash, randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

/** Start of the names of all temporary files of one target; they lie in its directory. Short, whatever the target's name is. */
export function draftPrefix(path: string): string {
  return `.bke-tmp-${createHash('sha256').update(basename(path)).digest('hex').slice(0, 12)}-`;
}

export function draftPath(path: string): string {
  return join(dirname(path), `${draftPrefix(path)}${randomBytes(6).toString('hex')}`);
}
