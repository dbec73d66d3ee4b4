// Errors of the operating system (disk full, permission denied, …) as errors a user can meet: they are no bugs.
import { getSystemErrorMap } from 'node:util';
import { BkeError } from './errors.ts';

interface SystemError extends Error {
  readonly errno: number;
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

/** Anything thrown, with errno errors turned into BKE_SYSTEM; everything else comes back as it is. */
export function explainSystemError(thrown: unknown): unknown {
  if (!isSystemError(thrown)) return thrown;
  const reason = getSystemErrorMap().get(thrown.errno)?.[1] ?? thrown.code;
  const place = thrown.path ?? addressOf(thrown);
  const what = [thrown.syscall, place].filter((part) => part !== undefined).join(' ');
  return new BkeError('BKE_SYSTEM', `${what}: ${reason} (${thrown.code})`, { cause: thrown });
}

function isSystemError(thrown: unknown): thrown is SystemError {
  if (!(thrown instanceof Error) || thrown instanceof BkeError) return false;
  const fields = thrown as Partial<SystemError>;
  return typeof fields.errno === 'number' && typeof fields.code === 'string' && typeof fields.syscall === 'string';
}

function addressOf(error: SystemError): string | undefined {
  if (error.address === undefined) return undefined;
  return error.port === undefined ? error.address : `${error.address}:${error.port}`;
}
