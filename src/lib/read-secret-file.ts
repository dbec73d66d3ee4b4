// Files with a password or private key that people name: refused where others may read or change them, as ssh does.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { BkeError } from './errors.ts';

/** A larger file is the wrong one: no secret is that long. */
const largestBytes = 64 * 1024;

/**
 * Text of a secret file. @param isSecret whether a text is one at all: of another file (a public key) the caller has something better to say. Pipes and devices are taken as they are: they have no content that others could read later.
 * @throws BkeError BKE_SECRET_EXPOSED where group or others have any right on it; the system's error where it can't be read; an Error where it is too large.
 */
export async function readSecretFile(path: string, isSecret = (_text: string): boolean => true): Promise<string> {
  const file = await open(path, constants.O_RDONLY);
  try {
    // Of the open file: what is asked and what is read are the same.
    const stat = await file.stat();
    if (stat.size > largestBytes) throw new Error('it is far too large to hold a secret');
    const text = await file.readFile('utf8');
    if (stat.isFile() && (stat.mode & 0o077) !== 0 && isSecret(text)) throw exposed(path, stat.mode & 0o777);
    return text;
  } finally {
    await file.close();
  }
}

/** For `readSecretFile`: a private key in PEM, OpenSSH or PuTTY form. */
export function isPrivateKey(text: string): boolean {
  return text.includes('PRIVATE KEY') || text.startsWith('PuTTY-User-Key-File-');
}

function exposed(path: string, mode: number): BkeError {
  const digits = mode.toString(8).padStart(4, '0');
  return new BkeError('BKE_SECRET_EXPOSED', `${path} holds a secret, but has the mode ${digits}: others may reach it`, {
    hint: `Make it yours alone: chmod 600 ${path}`,
  });
}
