// The login for pushes to the registry: a random password per install, in clear for root only, hashed for the registry.
import { createHmac, randomBytes } from 'node:crypto';
import type { TaskScope } from '../task.ts';
import { pushUser, servicePaths, serviceUser } from './layout.ts';

/** Keeps the password and its hash where they belong together. Returns the password. */
export async function ensurePushLogin(scope: TaskScope): Promise<string> {
  const { pushPassword, htpasswd } = servicePaths;
  const kept = (await scope.host.files.read(pushPassword))?.toString('utf8').trim();
  const password = kept === undefined || kept === '' ? randomBytes(24).toString('base64url') : kept;
  const line = (await scope.host.files.read(htpasswd))?.toString('utf8') ?? '';
  const hashed = (await matches(line, password)) ? line : await htpasswdLine(password);
  await scope.apply({
    kind: 'file',
    path: pushPassword,
    mode: 0o600,
    content: { text: `${password}\n` },
  });
  const owner = { user: serviceUser, group: serviceUser };
  await scope.apply({ kind: 'file', path: htpasswd, mode: 0o600, owner, content: { text: hashed } });
  return password;
}

export async function htpasswdLine(password: string): Promise<string> {
  const { hash } = await import('bcryptjs');
  // 192 random bits need no slow hash; the registry hashes on every request.
  return `${pushUser}:${await hash(password, 8)}\n`;
}

async function matches(line: string, password: string): Promise<boolean> {
  const [user, hashed] = line.trim().split(':');
  if (user !== pushUser || hashed === undefined) return false;
  const { compare } = await import('bcryptjs');
  return compare(password, hashed);
}

/** What the registry signs the state of uploads with: another secret of the same install, not to be turned back into the password. */
export function uploadSecret(password: string): string {
  return createHmac('sha256', password).update('registry uploads').digest('hex');
}
