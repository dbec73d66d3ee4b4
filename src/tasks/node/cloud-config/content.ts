// The content of a file in bootstrap data, decoded as cloud-init does it, within bounds.
import { gunzipSync } from 'node:zlib';

/** A file, unpacked. */
export const mostFileBytes = 16 << 20;

const packings: Readonly<Record<string, readonly ('base64' | 'gzip')[]>> = {
  '': [],
  'text/plain': [],
  b64: ['base64'],
  base64: ['base64'],
  gz: ['gzip'],
  gzip: ['gzip'],
  'gz+b64': ['base64', 'gzip'],
  'gz+base64': ['base64', 'gzip'],
  'gzip+b64': ['base64', 'gzip'],
  'gzip+base64': ['base64', 'gzip'],
};

export const encodings = Object.keys(packings).filter((name) => name !== '');

export function isEncoding(name: string): boolean {
  return Object.hasOwn(packings, name.trim().toLowerCase());
}

/** @returns the bytes, or why there are none, without a word of the content. */
export function decodeContent(content: string, encoding: string): Buffer | { readonly message: string } {
  const steps = packings[encoding.trim().toLowerCase()] ?? [];
  let bytes: Buffer = Buffer.from(content, 'utf8');
  for (const step of steps) {
    const next = step === 'base64' ? fromBase64(bytes.toString('latin1')) : unpacked(bytes);
    if (next === undefined) return { message: `is not ${step}, or too large (at most ${mostFileBytes >> 20} MiB)` };
    bytes = next;
  }
  return bytes;
}

/** Line breaks may stand in it; anything else that is no base64 shows that it is cut or no base64 at all. */
function fromBase64(text: string): Buffer | undefined {
  const packed = text.replaceAll(/\s/g, '');
  const whole = /^[A-Za-z0-9+/]*={0,2}$/.test(packed) && packed.length % 4 === 0;
  return whole ? Buffer.from(packed, 'base64') : undefined;
}

function unpacked(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: mostFileBytes });
  } catch {
    return undefined;
  }
}
