// Takes what is ours out of a channel's output: everything between the two marks that the script on the host prints around it.
import { TailBuffer } from '../../lib/tail-buffer.ts';

/** Kept of what came before the begin mark: enough to tell why it did not come. */
const noiseKept = 4096;

export class FrameReader {
  readonly #begin: Buffer;
  readonly #end: Buffer;
  readonly #body: TailBuffer;
  #state: 'before' | 'inside' | 'after' = 'before';
  #pending: Buffer = Buffer.alloc(0);
  #value = '';

  constructor(nonce: string, maxBytes: number) {
    this.#begin = Buffer.from(`\n${nonce} ready `);
    this.#end = Buffer.from(`\n${nonce} exit `);
    this.#body = new TailBuffer(maxBytes);
  }

  get began(): boolean {
    return this.#state !== 'before';
  }

  get ended(): boolean {
    return this.#state === 'after';
  }

  /** What the last mark seen carries: the process group, then the exit code. */
  get value(): string {
    return this.#value;
  }

  /** What was printed before the begin mark (its last 4 KiB). */
  get noise(): string {
    return this.#state === 'before' ? this.#pending.toString('utf8') : '';
  }

  /** What was printed between the marks so far (the last `maxBytes`). */
  get text(): string {
    return this.#body.toString();
  }

  /** Bytes of it that `text` has no more. */
  get dropped(): number {
    return this.#body.dropped;
  }

  push(chunk: Buffer): void {
    let data = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    if (this.#state === 'before') {
      const rest = this.#takeMark(data, this.#begin);
      if (rest === undefined) {
        this.#pending = Buffer.from(data.subarray(-noiseKept));
        return;
      }
      this.#state = 'inside';
      data = rest;
    }
    if (this.#state === 'inside') this.#pushInside(data);
  }

  /** The channel is closed: what was held back because it could have been the beginning of a mark is output. */
  finish(): void {
    if (this.#state !== 'inside') return;
    this.#body.push(this.#pending);
    this.#pending = Buffer.alloc(0);
  }

  #pushInside(data: Buffer): void {
    const at = data.indexOf(this.#end);
    if (at >= 0 && this.#takeMark(data, this.#end) !== undefined) {
      this.#body.push(data.subarray(0, at));
      this.#pending = Buffer.alloc(0);
      this.#state = 'after';
      return;
    }
    const keep = at >= 0 ? at : Math.max(0, data.length - this.#end.length + 1);
    this.#body.push(data.subarray(0, keep));
    this.#pending = Buffer.from(data.subarray(keep));
  }

  /** The bytes after the mark's line, or undefined while the line is not complete. */
  #takeMark(data: Buffer, mark: Buffer): Buffer | undefined {
    const at = data.indexOf(mark);
    if (at < 0) return undefined;
    const lineEnd = data.indexOf(0x0a, at + mark.length);
    if (lineEnd < 0) return undefined;
    this.#value = data.toString('latin1', at + mark.length, lineEnd);
    return data.subarray(lineEnd + 1);
  }
}
