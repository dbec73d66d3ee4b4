// The one error class for everything a user can meet; programmer errors stay plain Error and end as BKE_INTERNAL.
import { type ErrorCode, type ExitCode, errorTable } from './error-table.ts';

export interface BkeErrorOptions {
  /** Name of the host it happened on, as the user wrote it. */
  readonly host?: string | undefined;
  /** What to do next: one sentence, with the command where there is one. */
  readonly hint?: string | undefined;
  /** Further lines shown under the message, e.g. the last log lines; never secrets. */
  readonly details?: readonly string[] | undefined;
  readonly cause?: unknown;
}

export class BkeError extends Error {
  override readonly name = 'BkeError';
  readonly code: ErrorCode;
  readonly host: string | undefined;
  readonly hint: string | undefined;
  readonly details: readonly string[];

  constructor(code: ErrorCode, message: string, options: BkeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.host = options.host;
    this.hint = options.hint;
    this.details = options.details ?? [];
  }

  get exitCode(): ExitCode {
    return errorTable[this.code].exit;
  }
}

/** How an error travels in events, journals and resource status. */
export interface ErrorReport {
  readonly code: ErrorCode;
  readonly message: string;
  readonly host?: string;
  readonly hint?: string;
  readonly details?: readonly string[];
}

/** Turns anything thrown into a report; what is no BkeError is a bug and says so. */
export function toErrorReport(thrown: unknown): ErrorReport {
  if (thrown instanceof BkeError) {
    return {
      code: thrown.code,
      message: thrown.message,
      ...(thrown.host === undefined ? {} : { host: thrown.host }),
      ...(thrown.hint === undefined ? {} : { hint: thrown.hint }),
      ...(thrown.details.length === 0 ? {} : { details: thrown.details }),
    };
  }
  return { code: 'BKE_INTERNAL', message: thrown instanceof Error ? thrown.message : String(thrown) };
}
