// The end of a long output, in bounded memory.

/** Keeps the last `limit` bytes of what is pushed. */
export class TailBuffer {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #pushed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#pushed += chunk.length;
    if (this.#size > 2 * this.#limit + 65_536) this.#trim();
  }

  /** Bytes that came before those that are kept. */
  get dropped(): number {
    return Math.max(0, this.#pushed - this.#limit);
  }

  toString(): string {
    this.#trim();
    return this.#chunks[0]?.toString('utf8') ?? '';
  }

  #trim(): void {
    const all = Buffer.concat(this.#chunks);
    const kept = all.subarray(Math.max(0, all.length - this.#limit));
    this.#chunks = [kept];
    this.#size = kept.length;
  }
}

/** What is missing of two outputs; nothing where both are whole. */
export function droppedOf(
  stdout: Pick<TailBuffer, 'dropped'>,
  stderr: Pick<TailBuffer, 'dropped'>,
): { dropped?: { readonly stdout: number; readonly stderr: number } } {
  if (stdout.dropped + stderr.dropped === 0) return {};
  return { dropped: { stdout: stdout.dropped, stderr: stderr.dropped } };
}
