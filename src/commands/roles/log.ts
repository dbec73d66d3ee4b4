// The log of a role: one JSON line each on standard output, written at once.
import { type Logger, pino } from 'pino';

export function openRoleLog(): Logger {
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 1, sync: true }));
}
