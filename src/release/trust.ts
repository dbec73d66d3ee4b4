// Who may sign bundles: the release keys built in, and the keys a site adds.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { whyNoKey, whyUnreadable } from '../lib/errno.ts';
import { BkeError } from '../lib/errors.ts';
import { isPrivateKey, readSecretFile } from '../lib/read-secret-file.ts';

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

/** @param name as the user wrote it. @throws BkeError BKE_KEY_INVALID: the message never has the file's content; BKE_SECRET_EXPOSED. */
export async function readSigningKey(path: string, name = path): Promise<KeyObject> {
  return readKey({ path, name, half: 'private' }, (pem) => createPrivateKey(pem));
}

/** @param name as the user wrote it. @throws BkeError BKE_KEY_INVALID */
export async function readTrustKey(path: string, name = path): Promise<KeyObject> {
  return readKey({ path, name, half: 'public' }, (pem) => {
    // createPublicKey would silently derive the public half: a private key has no place among trusted ones.
    if (pem.includes('PRIVATE KEY')) throw new Error('it holds a private key');
    return createPublicKey(pem);
  });
}

interface KeyFile {
  readonly path: string;
  readonly name: string;
  readonly half: 'private' | 'public';
}

async function readKey(file: KeyFile, parse: (pem: string) => KeyObject): Promise<KeyObject> {
  const text = file.half === 'private' ? readSecretFile(file.path, isPrivateKey) : readFile(file.path, 'utf8');
  const key = await text.then(parse).catch((cause: unknown) => {
    if (cause instanceof BkeError) throw cause;
    const unreadable = whyUnreadable(cause);
    throw unreadable === undefined ? unfit(file, whyNoKey(cause)) : unreadableKey(file, unreadable);
  });
  if (key.asymmetricKeyType !== 'ed25519') throw unfit(file, `it is of the type ${key.asymmetricKeyType ?? 'unknown'}`);
  return key;
}

const hints: Readonly<Record<KeyFile['half'], string>> = {
  private: 'Make one with: openssl genpkey -algorithm ed25519 -out key.pem',
  public:
    'Name the public key that came with the bundle. Who signs bundles makes it with: openssl pkey -in key.pem -pubout -out key.pub',
};

function unfit({ name, half }: KeyFile, reason: string): BkeError {
  return new BkeError('BKE_KEY_INVALID', `${name} is no Ed25519 ${half} key in PEM form: ${reason}`, {
    hint: hints[half],
  });
}

function unreadableKey({ name, half }: KeyFile, reason: string): BkeError {
  return new BkeError('BKE_KEY_INVALID', `cannot read ${name}: ${reason}`, { hint: hints[half] });
}
