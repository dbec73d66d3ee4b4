// A log that nobody reads.
import type { Log } from '../../src/lib/log.ts';

export const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};
