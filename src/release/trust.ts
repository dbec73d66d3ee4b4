// Who may sign bundles: the release keys built in, and the keys a site adds.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { whyUnreadable } from '../lib/errno.ts';
import { BkeError } from '../lib/errors.ts';
import { isPrivateKey, readSecretFile } from '../lib/read-secret-file.ts';
import { toError } from '../lib/thrown.ts';

/**
 * PEM public keys of bke's releases, the current and the next one. There is none yet: until the project has a release key,
 * bundles are signed by the site that builds them and trusted with --trust-key.
 */
const releaseKeys: readonly string[] = [];

export function builtInKeys(): KeyObject[] {
  return releaseKeys.map((pem) => createPublicKey(pem));
}

/** SHA256:<base64 without padding> of the key's DER form, as OpenSSH writes fingerprints. */
export function keyId(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return `SHA256:${createHash('sha256').update(der).digest('base64').replace(/=+$/, '')}`;
}

/** @throws BkeError BKE_KEY_INVALID: the message never has the file's content; BKE_SECRET_EXPOSED. */
export async function readSigningKey(path: string): Promise<KeyObject> {
  return readKey(path, 'private', (pem) => createPrivateKey(pem));
}

/** @throws BkeError BKE_KEY_INVALID */
export async function readTrustKey(path: string): Promise<KeyObject> {
  return readKey(path, 'public', (pem) => {
    // createPublicKey would silently derive the public half: a private key has no place among trusted ones.
    if (isPrivateKey(pem)) throw new Error('it holds a private key');
    return createPublicKey(pem);
  });
}

async function readKey(
  path: string,
  half: 'private' | 'public',
  parse: (pem: string) => KeyObject,
): Promise<KeyObject> {
  const text = half === 'private' ? readSecretFile(path, isPrivateKey) : readFile(path, 'utf8');
  const key = await text.then(parse).catch((cause: unknown) => {
    if (cause instanceof BkeError) throw cause;
    return refuse(path, half, reasonOf(cause));
  });
  if (key.asymmetricKeyType !== 'ed25519')
    refuse(path, half, `it is of the type ${key.asymmetricKeyType ?? 'unknown'}`);
  return key;
}

function refuse(path: string, half: 'private' | 'public', reason: string): never {
  throw new BkeError('BKE_KEY_INVALID', `${path} is no Ed25519 ${half} key in PEM form: ${reason}`, {
    hint:
      half === 'private'
        ? 'Make one with: openssl genpkey -algorithm ed25519 -out key.pem'
        : 'Make it from the private key with: openssl pkey -in key.pem -pubout -out key.pub',
  });
}

function reasonOf(cause: unknown): string {
  return whyUnreadable(cause) ?? toError(cause).message;
}
