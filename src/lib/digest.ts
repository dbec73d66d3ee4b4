// Content digests (sha256:<hex>) and streams that prove what passes through them.
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

export type Digest = `sha256:${string}`;

const form = /^sha256:[0-9a-f]{64}$/;

export function isDigest(text: string): text is Digest {
  return form.test(text);
}

export function digestOf(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The 64 hex digits. */
export function hexOf(digest: Digest): string {
  return digest.slice('sha256:'.length);
}

export interface Content {
  readonly digest: Digest;
  /** Bytes. */
  readonly size: number;
}

/** What a stream of bytes is, as a whole. @param onChunk told of each chunk that went by. */
export async function contentOfChunks(
  chunks: AsyncIterable<Uint8Array>,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Content> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.length;
    onChunk?.(chunk);
  }
  return { digest: `sha256:${hash.digest('hex')}`, size };
}

/** Passes bytes on; at their end `check` gets what they were, and an error it returns fails the stream before its end is seen. */
export function digesting(check: (content: Content) => Error | undefined): Transform {
  const hash = createHash('sha256');
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
    flush(done) {
      done(check({ digest: `sha256:${hash.digest('hex')}`, size }) ?? null);
    },
  });
}

/**
 * Passes bytes on and fails at their end where they are not `wanted`: what already passed must be thrown away.
 * @param mismatch makes the error: only the caller knows what the bytes are and where they come from.
 */
export function verifying(wanted: Content, mismatch: (actual: Content) => Error): Transform {
  return digesting((actual) =>
    actual.digest === wanted.digest && actual.size === wanted.size ? undefined : mismatch(actual),
  );
}
