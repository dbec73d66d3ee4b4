// Reads what an API server sends: whole answers within a bound, watches line by line.
import type { IncomingMessage } from 'node:http';
import { BkeError } from '../lib/errors.ts';

/** Lists come in pages, so that no answer that is wanted is larger. */
const largestAnswer = 64 * 1024 * 1024;
/** One event of a watch: etcd takes objects up to 1.5 MiB. */
const longestLine = 16 * 1024 * 1024;

/** @throws BkeError BKE_KUBE_FAILED where it is too large, else what the connection throws */
export async function readWhole(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestAnswer) throw tooLarge(largestAnswer);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Every full line, without its end. @throws BkeError BKE_KUBE_FAILED where a line is too large, or the last one was cut off */
export async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      parts.push(rest.subarray(0, end));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
    }
    size += rest.length;
    if (size > longestLine) throw tooLarge(longestLine);
    parts.push(rest);
  }
  // Going on from before it could end there again and again.
  if (size > 0) throw new BkeError('BKE_KUBE_FAILED', 'the API server ended in the middle of an event');
}

function tooLarge(limit: number): BkeError {
  return new BkeError('BKE_KUBE_FAILED', `the API server sent more than ${limit / 1024 / 1024} MiB at once`);
}
