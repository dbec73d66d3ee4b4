// A part of an open file as a stream, by large reads; many may read one file at once.
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** 64 KiB, Node's own choice, makes hashing and sending half as fast. */
const readSize = 1024 * 1024;

/** `size` bytes from `start` on, or fewer where the file ends. The handle stays open: it belongs to the caller. */
export function readRange(file: FileHandle, start: number, size: number): Readable {
  return Readable.from(fileChunks(file, start, size), { objectMode: false, highWaterMark: readSize });
}

/** The same as plain chunks, for hashing without a stream. */
export async function* fileChunks(file: FileHandle, start: number, size: number): AsyncGenerator<Buffer> {
  let position = start;
  const end = start + size;
  while (position < end) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(readSize, end - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
