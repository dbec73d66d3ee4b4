// Where journals of operations are kept.
import { dirname, join } from 'node:path';
import { ensureDirectory } from '../lib/ensure-directory.ts';

const rootDirectory = '/var/lib/bke/operations';

/**
 * As root /var/lib/bke/operations, else $XDG_STATE_HOME/bke/operations (XDG base directory specification).
 * undefined where there is no home to keep anything in.
 */
export function operationsDirectory(
  env: Readonly<Record<string, string | undefined>>,
  uid: number | undefined = process.getuid?.(),
): string | undefined {
  if (uid === 0) return rootDirectory;
  const state = absolute(env['XDG_STATE_HOME']);
  if (state !== undefined) return join(state, 'bke/operations');
  const home = absolute(env['HOME']);
  return home === undefined ? undefined : join(home, '.local/state/bke/operations');
}

/** Makes it, 0700. What is missing above root's is open: the services' data will lie there too, and their user must get through. */
export async function makeOperationsDirectory(directory: string): Promise<void> {
  await ensureDirectory(dirname(directory), directory === rootDirectory ? 0o755 : 0o700);
  await ensureDirectory(directory, 0o700);
}

/** The XDG base directory specification says to ignore paths that are not absolute. */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') === true ? path : undefined;
}
