// Variables meant for Node.js have no business in the binary: it starts itself again without them, as the same process.
import { accessSync, constants } from 'node:fs';
import { isSea } from 'node:sea';

/**
 * Coverage and compile-cache folders, more CA certificates, no verification of TLS, …: all of them, also those of a later Node. Does not return
 * where there are any. Run from source they stay: whoever does that runs Node, and `process.execve` would lose its script.
 */
export function restartWithoutNodeVariables(): void {
  const foreign = Object.keys(process.env).filter((name) => name.startsWith('NODE_'));
  if (foreign.length === 0 || !isSea()) return;
  const env = { ...process.env };
  for (const name of foreign) delete env[name];
  // Coverage that runs would be written when this program ends, by execve too. (Other starts are spared the module.)
  process.getBuiltinModule('node:v8').stopCoverage();
  process.execve?.(ownFile(), [process.argv0, ...process.argv.slice(2)], env);
}

/** The file may be gone or replaced by now; a failed execve would abort. */
function ownFile(): string {
  try {
    accessSync(process.execPath, constants.X_OK);
    return process.execPath;
  } catch {
    return '/proc/self/exe';
  }
}
