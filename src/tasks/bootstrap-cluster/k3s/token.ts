// The token that K3s encrypts its keys with: made once per install, known to this host's root alone.
import { randomBytes } from 'node:crypto';
import type { TaskScope } from '../../task.ts';
import { k3sPaths } from './paths.ts';

/** Kept on every later run: a K3s that is started with another one can't read its own keys any more. */
export async function ensureToken(scope: TaskScope): Promise<void> {
  const token = (await readToken(scope, k3sPaths.token)) ?? (await keptByK3s(scope)) ?? randomBytes(32).toString('hex');
  await scope.apply({ kind: 'file', path: k3sPaths.token, mode: 0o600, content: { text: `${token}\n` } });
}

/** K3s keeps it as `K10<hash of its CA>::server:<token>`, and starts a cluster with the last part only. */
async function keptByK3s(scope: TaskScope): Promise<string | undefined> {
  const text = await readToken(scope, k3sPaths.keptToken);
  return /^K10[0-9a-f]+::server:(.+)$/.exec(text ?? '')?.[1];
}

async function readToken(scope: TaskScope, path: string): Promise<string | undefined> {
  const text = (await scope.host.files.read(path))?.toString('utf8').trim();
  return text === '' ? undefined : text;
}
