// The HTTP rules of sending a file (RFC 9110): validators, one range, and the bytes with back-pressure.
import type { FileHandle } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { StoredFile } from './store.ts';

export function etagOf({ digest }: { readonly digest: string }): string {
  return `"${digest}"`;
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

export type FileAnswer =
  | { readonly status: 200 | 206; readonly range: ByteRange }
  | { readonly status: 304 }
  | { readonly status: 416 };

/** What the request's conditions and range mean for this file. */
export function answerFor(headers: IncomingHttpHeaders, file: StoredFile): FileAnswer {
  const noneMatch = headers['if-none-match'];
  if (noneMatch !== undefined && namesTag(noneMatch, etagOf(file))) return { status: 304 };
  if (headers.range === undefined || !rangeHolds(headers['if-range'], file)) return whole(file);
  const range = parseRange(headers.range, file.size);
  if (range === 'unsatisfiable') return { status: 416 };
  return range === undefined ? whole(file) : { status: 206, range };
}

function whole({ size }: StoredFile): FileAnswer {
  return { status: 200, range: { start: 0, length: size } };
}

function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((each) => [tag, `W/${tag}`, '*'].includes(each.trim()));
}

/** If-Range: the part is wanted only of the very file the client has the beginning of. */
function rangeHolds(header: unknown, file: StoredFile): boolean {
  if (typeof header !== 'string') return true;
  return header.trim() === etagOf(file) || header.trim() === file.modified.toUTCString();
}

/** undefined: no single range of bytes, to be ignored as the RFC allows. */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header) ?? [];
  if (first === '') return last === '' ? undefined : rangeOf(Math.max(0, size - Number(last)), size - 1, size);
  const [start, end] = [Number(first), last === '' ? Number.POSITIVE_INFINITY : Number(last)];
  return end < start ? undefined : rangeOf(start, Math.min(end, size - 1), size);
}

function rangeOf(start: number, end: number, size: number): ByteRange | 'unsatisfiable' {
  return start >= size || end < start ? 'unsatisfiable' : { start, length: end - start + 1 };
}

/** Large reads cost less per byte, but every download holds one. */
const chunkSize = 256 * 1024;

/** Returns how many bytes were handed on. `onTaken` is told of each part that the connection took. Ends early where the client has gone. */
export async function sendRange(
  file: FileHandle,
  { start, length }: ByteRange,
  response: ServerResponse,
  onTaken: (bytes: number) => void,
): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, length));
  const write = writerTo(response);
  let sent = 0;
  while (sent < length && !response.destroyed) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, length - sent), start + sent);
    // A file cut while it is sent can't be announced any more: a broken connection tells the client.
    if (bytesRead === 0) throw new Error('the file became shorter while it was sent');
    await write(buffer.subarray(0, bytesRead));
    sent += bytesRead;
    onTaken(bytesRead);
  }
  return sent;
}

/** Each write ends when the connection has taken the whole chunk, so that its buffer is free again, or when the client has gone. */
function writerTo(response: ServerResponse): (chunk: Buffer) => Promise<void> {
  let wake: () => void = () => undefined;
  // One listener for all writes: a promise raced against each would remember every one of them.
  response.once('close', () => wake());
  return (chunk) =>
    new Promise((resolve) => {
      wake = resolve;
      if (response.destroyed) resolve();
      else response.write(chunk, () => resolve());
    });
}
