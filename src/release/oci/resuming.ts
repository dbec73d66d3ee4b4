// Reads something over as many connections as it takes: after a broken one, from where it was.
import { backOff } from '../../lib/back-off.ts';
import { NetworkError } from './http.ts';

/** Broken connections in a row without one byte in between. */
const fruitlessLimit = 4;

/** @param connect the bytes from an offset on, over one connection; throws NetworkError where it broke. */
export async function* resumingReads(
  connect: (offset: number) => AsyncIterable<Buffer>,
  start: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  let offset = start;
  let fruitless = 0;
  for (;;) {
    const before = offset;
    try {
      for await (const chunk of connect(offset)) {
        offset += chunk.length;
        yield chunk;
      }
      return;
    } catch (thrown) {
      fruitless = offset > before ? 1 : fruitless + 1;
      if (!(thrown instanceof NetworkError) || fruitless >= fruitlessLimit) throw thrown;
      await backOff(fruitless, 250, signal);
    }
  }
}

/** Without the first `skip` bytes: a server may ignore a range and begin again. */
export async function* skipping(chunks: AsyncIterable<Buffer>, skip: number): AsyncGenerator<Buffer> {
  let left = skip;
  for await (const chunk of chunks) {
    const rest = chunk.subarray(Math.min(left, chunk.length));
    left -= chunk.length - rest.length;
    if (rest.length > 0) yield rest;
  }
}
