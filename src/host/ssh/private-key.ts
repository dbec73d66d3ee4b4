// Reads a private key in any common form (OpenSSH, PKCS#1, PKCS#8, SEC1, encrypted or not) and says in one sentence what is wrong with it.
import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';
import { BkeError, type BkeErrorOptions } from '../../lib/errors.ts';
import { isPrivateKey, readSecretFile } from '../../lib/read-secret-file.ts';
import { toError } from '../../lib/thrown.ts';
import { type SshOptions, type SshPrivateKey, type SshTarget, readSecret } from './target.ts';

/**
 * @throws BkeError BKE_SSH_KEY_INVALID: the file is no key bke can use; BKE_SSH_KEY_PASSPHRASE: it is encrypted and no passphrase fits;
 * BKE_SECRET_EXPOSED: others may read it.
 */
export async function loadPrivateKey(
  target: SshTarget,
  source: SshPrivateKey,
  options: SshOptions,
): Promise<ParsedKey> {
  const key = new KeyText(target, source.file ?? 'ssh.privateKey', await readKeyText(target, source));
  const passphrase = await readSecret(source.passphrase);
  const first = key.open(passphrase);
  if (first !== 'passphrase-needed') return first;
  const asked = await options.askPassphrase?.(`Passphrase of ${key.name} for ${target.name}`);
  if (asked === undefined) throw key.passphraseError(`${key.name} is encrypted and no passphrase is given`);
  const second = key.open(asked);
  if (second === 'passphrase-needed') throw key.passphraseError(`${key.name} is encrypted and the passphrase is empty`);
  return second;
}

async function readKeyText(target: SshTarget, source: SshPrivateKey): Promise<string> {
  if (source.file === undefined) return (await readSecret(source.contents)) ?? '';
  try {
    return await readSecretFile(source.file, isPrivateKey);
  } catch (error) {
    if (error instanceof BkeError) throw error;
    throw new BkeError(
      'BKE_SSH_KEY_INVALID',
      `the private key ${source.file} cannot be read: ${toError(error).message}`,
      {
        host: target.name,
        hint: `Check ssh.privateKeyFile of ${target.name}.`,
        cause: error,
      },
    );
  }
}

class KeyText {
  readonly name: string;
  readonly #target: SshTarget;
  readonly #text: string;

  constructor(target: SshTarget, name: string, text: string) {
    this.#target = target;
    this.name = name;
    // A byte order mark, blank lines around and Windows line ends are what editors add; the key is the same.
    this.#text = text
      .replace(/^\uFEFF/, '')
      .replaceAll('\r\n', '\n')
      .trim();
  }

  open(passphrase: string | undefined): ParsedKey | 'passphrase-needed' {
    this.#refuseWhatIsNoKey();
    if (this.#text.includes('BEGIN OPENSSH PRIVATE KEY')) return this.#openSsh(passphrase);
    if (this.#text.startsWith('PuTTY-User-Key-File-')) return this.#putty(passphrase);
    return this.#pem(passphrase);
  }

  passphraseError(message: string, cause?: unknown): BkeError {
    return this.#error('BKE_SSH_KEY_PASSPHRASE', message, {
      hint: `Put the passphrase into a file (mode 0600) and name it in ssh.passphraseFile of ${this.#target.name}, or use an SSH agent.`,
      cause,
    });
  }

  #refuseWhatIsNoKey(): void {
    if (this.#text === '') throw this.#invalid('is empty');
    if (/^(?:ssh-|ecdsa-|sk-)\S+ AAAA/.test(this.#text) || /BEGIN (?:SSH2 )?(?:RSA )?PUBLIC KEY/.test(this.#text)) {
      throw this.#invalid('is a public key', 'Name the private key instead: the file of the same name without .pub.');
    }
    if (!isPrivateKey(this.#text)) {
      throw this.#invalid('is not a private key in any form bke knows', 'Make one with: ssh-keygen -t ed25519');
    }
  }

  #openSsh(passphrase: string | undefined): ParsedKey | 'passphrase-needed' {
    const { cipher, type } = openSshHeader(this.#text);
    if (type?.startsWith('sk-') === true) {
      throw this.#invalid('lives on a security key', 'Load it into an SSH agent: ssh-add');
    }
    if (cipher !== undefined && cipher !== 'none') {
      if (cipher.startsWith('chacha20')) {
        throw this.#invalid(
          `is encrypted with ${cipher}, which bke does not read`,
          `Encrypt it anew: ssh-keygen -p -Z aes256-ctr -f ${this.name}`,
        );
      }
      if (passphrase === undefined || passphrase === '') return 'passphrase-needed';
    }
    return this.#parsed(this.#text, passphrase);
  }

  #putty(passphrase: string | undefined): ParsedKey | 'passphrase-needed' {
    if (!this.#text.startsWith('PuTTY-User-Key-File-2')) {
      throw this.#invalid('is a PuTTY key', 'Convert it: puttygen KEY.ppk -O private-openssh -o KEY');
    }
    const encrypted = !/^Encryption: none$/m.test(this.#text);
    return encrypted && !passphrase ? 'passphrase-needed' : this.#parsed(this.#text, passphrase);
  }

  /** Every other PEM goes through Node's own crypto, which knows more ciphers and forms than the SSH library. */
  #pem(passphrase: string | undefined): ParsedKey | 'passphrase-needed' {
    const encrypted = /ENCRYPTED/.test(this.#text);
    if (encrypted && !passphrase) return 'passphrase-needed';
    let key: KeyObject;
    try {
      key = createPrivateKey({ key: this.#text, ...(encrypted && passphrase ? { passphrase } : {}) });
    } catch (error) {
      if (encrypted) throw this.passphraseError(`the passphrase given does not open ${this.name}`, error);
      throw this.#invalid('is damaged', undefined, error);
    }
    return this.#parsed(this.#sshForm(key));
  }

  #sshForm(key: KeyObject): string {
    if (key.asymmetricKeyType === 'rsa') return key.export({ format: 'pem', type: 'pkcs1' }).toString();
    if (key.asymmetricKeyType === 'ec') return key.export({ format: 'pem', type: 'sec1' }).toString();
    if (key.asymmetricKeyType === 'ed25519') return ed25519OpenSsh(key);
    throw this.#invalid(
      `is of type ${key.asymmetricKeyType ?? 'unknown'}, which SSH does not use`,
      'Make one with: ssh-keygen -t ed25519',
    );
  }

  #parsed(text: string, passphrase?: string): ParsedKey {
    const found = ssh2.utils.parseKey(text, passphrase);
    const key = Array.isArray(found) ? found[0] : found;
    if (key !== undefined && !(key instanceof Error) && key.isPrivateKey()) return key;
    const reason = key instanceof Error ? key.message : 'no private part';
    if (/bad passphrase|integrity check|bad decrypt|unable to authenticate/i.test(reason)) {
      throw this.passphraseError(`the passphrase given does not open ${this.name}`, key);
    }
    throw this.#invalid('is damaged, or in a form that bke does not read', undefined, key);
  }

  #invalid(what: string, hint?: string, cause?: unknown): BkeError {
    return this.#error('BKE_SSH_KEY_INVALID', `the private key ${this.name} ${what}`, {
      hint: hint ?? `Check ssh.privateKeyFile of ${this.#target.name}.`,
      cause,
    });
  }

  #error(code: 'BKE_SSH_KEY_INVALID' | 'BKE_SSH_KEY_PASSPHRASE', message: string, options: BkeErrorOptions): BkeError {
    return new BkeError(code, message, { host: this.#target.name, ...options });
  }
}

interface OpenSshHeader {
  readonly cipher?: string | undefined;
  readonly type?: string | undefined;
}

/** Cipher and key type from the clear part of an OpenSSH key (PROTOCOL.key of OpenSSH); empty where the text is damaged. */
function openSshHeader(text: string): OpenSshHeader {
  const body = /BEGIN OPENSSH PRIVATE KEY-----([\s\S]*?)-----END/.exec(text)?.[1];
  const data = Buffer.from(body ?? '', 'base64');
  const magic = 'openssh-key-v1\0';
  if (data.toString('latin1', 0, magic.length) !== magic) return {};
  const [cipher, kdf, kdfOptions] = readStrings(data, magic.length, 3);
  if (cipher === undefined || kdf === undefined || kdfOptions === undefined) return {};
  // After the three strings: a count, then the public key, whose first string is its type.
  const offset = magic.length + 12 + cipher.length + kdf.length + kdfOptions.length + 4;
  const [publicKey] = readStrings(data, offset, 1);
  return { cipher: cipher.toString('latin1'), type: publicKey && readStrings(publicKey, 0, 1)[0]?.toString('latin1') };
}

function readStrings(data: Buffer, start: number, count: number): Buffer[] {
  const strings: Buffer[] = [];
  let at = start;
  while (strings.length < count && at + 4 <= data.length) {
    const end = at + 4 + data.readUInt32BE(at);
    if (end > data.length) break;
    strings.push(data.subarray(at + 4, end));
    at = end;
  }
  return strings;
}

/** Node can export ed25519 only as PKCS#8, which the SSH library does not read: the OpenSSH form is built here. */
function ed25519OpenSsh(key: KeyObject): string {
  const { d, x } = key.export({ format: 'jwk' });
  const secret = Buffer.from(d ?? '', 'base64url');
  const point = Buffer.from(x ?? '', 'base64url');
  const publicKey = Buffer.concat([sshString('ssh-ed25519'), sshString(point)]);
  const check = randomBytes(4);
  const inner = Buffer.concat([check, check, publicKey, sshString(Buffer.concat([secret, point])), sshString('')]);
  const padding = Buffer.from(Array.from({ length: (8 - (inner.length % 8)) % 8 }, (_, index) => index + 1));
  const count = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0', 'latin1'),
    sshString('none'),
    sshString('none'),
    sshString(''),
    count,
    sshString(publicKey),
    sshString(Buffer.concat([inner, padding])),
  ]);
  const lines = blob.toString('base64').replaceAll(/.{70}/g, '$&\n').trimEnd();
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function sshString(value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : value;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
