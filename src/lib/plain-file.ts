// Files that are read must be files: a named pipe would block for ever, a device may have no end.
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { ErrorCode } from './error-table.ts';
import { BkeError } from './errors.ts';

/**
 * Opens for reading. Links are followed.
 * @param code of the error where something else than a plain file is there.
 * @throws BkeError; the system's error where it can't be opened.
 */
export async function openPlainFile(path: string, code: ErrorCode): Promise<FileHandle> {
  // Before the open: opening a device can do something already.
  requirePlain(await stat(path), path, code);
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    requirePlain(await file.stat(), path, code);
    return file;
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

function requirePlain(found: FileType, path: string, code: ErrorCode): void {
  if (!found.isFile()) throw new BkeError(code, `cannot read ${path}: it is ${fileType(found)}`);
}

export interface FileType {
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
}

/** In words, of what is no plain file and no link. */
export function fileType(found: FileType): string {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a named pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}
