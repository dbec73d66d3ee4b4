// bundle.json.sig: one line per signature, `<key id> <base64 of the Ed25519 signature over the exact bytes of bundle.json>`.
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { BkeError } from '../../lib/errors.ts';
import { listed } from '../../lib/text.ts';
import { keyId } from '../trust.ts';

export type SignatureState =
  | { readonly state: 'trusted' /** SHA256:<base64> of the key. */; readonly key: string }
  | { readonly state: 'unsigned' }
  | { readonly state: 'untrusted'; readonly keys: readonly string[] };

/** Ed25519 has no random part: equal content and key give equal bytes. */
export function signatureLine(content: Buffer, privateKey: KeyObject): string {
  return `${keyId(createPublicKey(privateKey))} ${sign(null, content, privateKey).toString('base64')}\n`;
}

/**
 * Several lines let a release be signed by the current and the next key; one good line of a trusted key is enough.
 * @param path only for messages.
 * @throws BkeError BKE_BUNDLE_SIGNATURE where a trusted key's signature does not fit or the text is no signature.
 */
export function checkSignature(
  content: Buffer,
  signatures: string | undefined,
  trusted: readonly KeyObject[],
  path: string,
): SignatureState {
  if (signatures === undefined) return { state: 'unsigned' };
  const keys = new Map(trusted.map((key) => [keyId(key), key]));
  const others: string[] = [];
  for (const line of signatures.split('\n').filter((text) => text !== '')) {
    const [, id = '', base64 = ''] = /^(SHA256:[A-Za-z0-9+/]{43}) ([A-Za-z0-9+/]{86}==)$/.exec(line) ?? [];
    if (id === '')
      throw new BkeError('BKE_BUNDLE_SIGNATURE', `${path}: bundle.json.sig is damaged: it is no list of signatures`);
    const key = keys.get(id);
    if (key === undefined) others.push(id);
    else if (verify(null, content, key, Buffer.from(base64, 'base64'))) return { state: 'trusted', key: id };
    else {
      throw new BkeError('BKE_BUNDLE_SIGNATURE', `${path}: bundle.json was changed after it was signed by ${id}`, {
        hint: 'Get the bundle again from where it was built.',
      });
    }
  }
  return { state: 'untrusted', keys: others };
}

/** @throws BkeError BKE_BUNDLE_UNTRUSTED where nobody trusted has signed and that is not accepted. */
export function requireTrust(signature: SignatureState, trusted: readonly KeyObject[], path: string): void {
  if (signature.state === 'trusted') return;
  const known = trusted.length === 0 ? 'no key is trusted here' : `trusted here: ${listed(trusted.map(keyId))}`;
  const what =
    signature.state === 'unsigned'
      ? `${path} is not signed`
      : `${path} is signed by ${listed(signature.keys)}; ${known}`;
  throw new BkeError('BKE_BUNDLE_UNTRUSTED', what, {
    hint:
      signature.state === 'unsigned'
        ? 'Accept it this once with --allow-unsigned, or build it with --sign-key.'
        : 'Give the public key with --trust-key FILE, or accept the bundle this once with --allow-unsigned.',
  });
}
