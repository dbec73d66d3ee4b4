// Errors of the operating system, told apart by their code.
import { toError } from './thrown.ts';

/** Whether `thrown` is a system error with one of the codes, e.g. ENOENT. */
export function isErrno(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' && codes.includes(thrown.code);
}

/** Why a file that was named cannot be read, in words; undefined where its error has to speak for itself. */
export function whyUnreadable(thrown: unknown): string | undefined {
  if (isErrno(thrown, 'ENOENT')) return 'there is no such file';
  if (isErrno(thrown, 'EACCES')) return 'you may not read it';
  return isErrno(thrown, 'EISDIR') ? 'it is a directory' : undefined;
}

/** As whyUnreadable, of a key or certificate. OpenSSL's own words are for those who know its sources. */
export function whyNoKey(thrown: unknown): string {
  const { message } = toError(thrown);
  return whyUnreadable(thrown) ?? (message.startsWith('error:') ? 'it is something else, or damaged' : message);
}
