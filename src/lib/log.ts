// What controllers and agents need of a logger: pino is one.
import { BkeError, toErrorReport } from './errors.ts';
import { toError } from './thrown.ts';

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, string>): Log;
}

/** An error as fields of a line. Causes and further properties stay out: a request's headers can be among them. */
export function errorFields(thrown: unknown): object {
  const error = toErrorReport(thrown);
  return thrown instanceof BkeError ? { error } : { error, stack: toError(thrown).stack };
}
