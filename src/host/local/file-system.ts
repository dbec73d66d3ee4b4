// The part of node:fs/promises that the local host works with; a test puts a file system in its place that dies between two effects.
import type promises from 'node:fs/promises';

export type FileSystem = Pick<
  typeof promises,
  | 'chmod'
  | 'lchown'
  | 'lstat'
  | 'mkdir'
  | 'open'
  | 'readFile'
  | 'readdir'
  | 'readlink'
  | 'realpath'
  | 'rename'
  | 'rmdir'
  | 'symlink'
  | 'truncate'
  | 'unlink'
  | 'utimes'
>;
