// Public keys of SSH servers as people write them down: a fingerprint, or the key itself as in known_hosts or a .pub file.
import { createHash } from 'node:crypto';

interface WrittenKey {
  /** SHA256:… without padding */
  readonly fingerprint: string;
  /** Absent where only the fingerprint is known. */
  readonly type: string | undefined;
}

/** undefined where the text is neither. */
export function parseHostKey(text: string): WrittenKey | undefined {
  const trimmed = text.trim();
  const fingerprint = /^SHA256:[A-Za-z0-9+/]{43}=?$/.exec(trimmed)?.[0].replace('=', '');
  if (fingerprint !== undefined) return { fingerprint, type: undefined };
  const fields = trimmed.split(/\s+/);
  for (const [at, type] of fields.entries()) {
    const blob = keyBlob(type, fields[at + 1]);
    if (blob !== undefined) return { fingerprint: fingerprintOf(blob), type };
  }
  return undefined;
}

/** SHA256:… as ssh-keygen -l prints it. @param blob the public key in SSH's wire form. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`;
}

/** The wire form of a public key given as its two text fields; undefined where they do not fit each other. */
export function keyBlob(type: string | undefined, base64: string | undefined): Buffer | undefined {
  if (type === undefined || base64 === undefined || !/^[A-Za-z0-9+/]+=*$/.test(base64)) return undefined;
  const blob = Buffer.from(base64, 'base64');
  return keyType(blob) === type ? blob : undefined;
}

/** The type named inside a public key blob. */
export function keyType(blob: Buffer): string | undefined {
  if (blob.length < 4) return undefined;
  const length = blob.readUInt32BE(0);
  if (length === 0 || length > 64 || blob.length < 4 + length) return undefined;
  return blob.toString('latin1', 4, 4 + length);
}
