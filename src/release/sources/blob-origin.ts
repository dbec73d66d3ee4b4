// Where the bytes of a blob can be read from, as often as needed; whoever reads them checks them.
import { Readable } from 'node:stream';
import { type Content, digestOf } from '../../lib/digest.ts';
import { fileChunks } from '../../lib/file-range.ts';
import { openPlainFile } from '../../lib/plain-file.ts';

export interface BlobOrigin extends Content {
  /** For messages: the path, or what it is. */
  readonly where: string;
  open(): Readable;
}

export function bytesOrigin(bytes: Buffer, where: string): BlobOrigin {
  return { digest: digestOf(bytes), size: bytes.length, where, open: () => Readable.from([bytes]) };
}

export function fileOrigin(path: string, content: Content): BlobOrigin {
  return { ...content, where: path, open: () => Readable.from(wholeFile(path), { objectMode: false }) };
}

async function* wholeFile(path: string): AsyncGenerator<Buffer> {
  const file = await openPlainFile(path, 'BKE_ARTIFACT_UNUSABLE');
  try {
    // To its present end: a file that grew must not pass as the one that was hashed.
    yield* fileChunks(file, 0, Number.MAX_SAFE_INTEGER);
  } finally {
    await file.close();
  }
}
