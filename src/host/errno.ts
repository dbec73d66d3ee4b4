// Errors of the operating system on a host's files, named by the path the user knows.
import { getSystemErrorMap } from 'node:util';
import { BkeError } from '../lib/errors.ts';

interface ErrnoError extends Error {
  readonly errno: number;
  readonly code: string;
}

function isErrnoError(thrown: unknown): thrown is ErrnoError {
  return thrown instanceof Error && 'errno' in thrown && 'code' in thrown && typeof thrown.code === 'string';
}

/** The errno name (ENOENT, EPERM, …) of an error or of its cause; undefined where the system did not refuse anything. */
export function errnoOf(thrown: unknown): string | undefined {
  if (isErrnoError(thrown)) return thrown.code;
  return thrown instanceof BkeError && thrown.cause !== undefined ? errnoOf(thrown.cause) : undefined;
}

export interface FileAct {
  /** e.g. 'writing' */
  readonly what: string;
  /** As the host knows it, without a prefix of tests and never the temporary name. */
  readonly path: string;
  /** How many bytes were wanted there, for a full disk. */
  readonly bytes?: number;
}

/** errno errors become BKE_DISK_FULL or BKE_SYSTEM; anything else comes back as it is. */
export function fileError(thrown: unknown, act: FileAct): unknown {
  if (!isErrnoError(thrown)) return thrown;
  if (thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT') {
    const bytes = act.bytes === undefined ? '' : ` needs ${act.bytes} bytes`;
    return new BkeError('BKE_DISK_FULL', `the disk is full: ${act.what} ${act.path}${bytes} (${thrown.code})`, {
      cause: thrown,
      hint: 'Free some space there and run the same command again.',
    });
  }
  const reason = getSystemErrorMap().get(thrown.errno)?.[1] ?? thrown.message;
  return new BkeError('BKE_SYSTEM', `${act.what} ${act.path}: ${reason} (${thrown.code})`, { cause: thrown });
}
