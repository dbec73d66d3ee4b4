// The end of a long output, in bounded memory.

/** Keeps the last `limit` bytes of what is pushed. */
export class TailBuffer {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > 2 * this.#limit + 65_536) this.#trim();
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
