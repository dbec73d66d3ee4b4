// Where journals of operations are kept.
import { join } from 'node:path';

/**
 * As root /var/lib/bke/operations, else $XDG_STATE_HOME/bke/operations (design section 4).
 * undefined where there is no home to keep anything in.
 */
export function operationsDirectory(
  env: Readonly<Record<string, string | undefined>>,
  uid: number | undefined = process.getuid?.(),
): string | undefined {
  if (uid === 0) return '/var/lib/bke/operations';
  const state = absolute(env['XDG_STATE_HOME']);
  if (state !== undefined) return join(state, 'bke/operations');
  const home = absolute(env['HOME']);
  return home === undefined ? undefined : join(home, '.local/state/bke/operations');
}

/** The XDG base directory specification says to ignore paths that are not absolute. */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') === true ? path : undefined;
}
