// Commands that change this host are root's.
import { BkeError } from '../lib/errors.ts';

/** @param command for the message, e.g. 'bke reset'. @throws BkeError BKE_ROOT_NEEDED */
export function requireRoot(command: string): void {
  if (process.getuid?.() === 0) return;
  throw new BkeError('BKE_ROOT_NEEDED', `${command} must run as root`, { hint: 'Run the same command with sudo.' });
}
