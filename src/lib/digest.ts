// Content digests (sha256:<hex>) and streams that prove what passes through them.
import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';

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

/** Passes bytes on and knows at the end what they were. */
export class DigestStream extends Transform {
  readonly #hash = createHash('sha256');
  #size = 0;
  #digest: Digest | undefined;

  /** Complete only after the stream has ended. */
  get content(): Content {
    if (this.#digest === undefined) throw new Error('the stream has not ended');
    return { digest: this.#digest, size: this.#size };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#hash.update(chunk);
    this.#size += chunk.length;
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    this.#digest = `sha256:${this.#hash.digest('hex')}`;
    done();
  }
}

/** Passes bytes on and fails before its end is seen where they are not `wanted`; what already passed must be thrown away. */
export class VerifyStream extends DigestStream {
  readonly #wanted: Content;
  readonly #mismatch: (actual: Content) => Error;
  #seen = 0;

  /** @param mismatch makes the error: only the caller knows what the bytes are and where they come from. */
  constructor(wanted: Content, mismatch: (actual: Content) => Error) {
    super();
    this.#wanted = wanted;
    this.#mismatch = mismatch;
  }

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    this.#seen += chunk.length;
    super._transform(chunk, encoding, done);
  }

  override _flush(done: TransformCallback): void {
    super._flush(() => {
      const actual = this.content;
      const good = actual.digest === this.#wanted.digest && actual.size === this.#wanted.size;
      done(good ? null : this.#mismatch(actual));
    });
  }
}
