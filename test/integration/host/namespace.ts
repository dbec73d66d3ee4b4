// Runs a test of mounts in a private mount namespace, so that whatever it mounts or loses is its own.
import { fileURLToPath } from 'node:url';
import type { RunResult } from '../../../src/host/host.ts';
import { runProgram } from '../../../src/host/local/run.ts';

/** A bash script prepares; `"$NODE" "$REMOVE" PATH` in it is the product's own removal. */
export function inNamespace(script: string, env: Readonly<Record<string, string>> = {}): Promise<RunResult> {
  return runProgram(
    ['unshare', '--mount', '--propagation', 'private', '--', 'bash', '-euo', 'pipefail', '-c', script],
    {
      env: { NODE: process.execPath, REMOVE: fileURLToPath(new URL('remove-cli.ts', import.meta.url)), ...env },
      timeoutMs: 90_000,
      maxOutputBytes: 16 << 20,
    },
  );
}
