// Reads a blob from a registry as one stream, verified where it is read from its start.
import { pipeline, Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { type Content, verifying } from '../../lib/digest.ts';
import { namingFault } from './http.ts';
import type { RegistryConnection } from './registry-connection.ts';
import { unreachable } from './registry-errors.ts';
import { resumingReads, skipping } from './resuming.ts';

export interface BlobRead {
  /** Where to begin; from 0, the default, the stream is verified, else the reader does it. */
  readonly offset?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface BlobDownload extends BlobRead {
  readonly repository: string;
  readonly content: Content;
}

export function readBlobFrom(connection: RegistryConnection, download: BlobDownload): Readable {
  const { repository, content, offset = 0 } = download;
  const bytes = Readable.from(allBytes(connection, download), { objectMode: false });
  if (offset > 0) return bytes;
  const verify = verifying(content, (actual) => {
    const source = `${connection.registry}/${repository}`;
    return new BkeError(
      'BKE_DIGEST_MISMATCH',
      `${source}: the blob should be ${content.digest} (${content.size} bytes) but is ${actual.digest} (${actual.size} bytes)`,
    );
  });
  // An error reaches the reader through `verify`, which pipeline destroys with it.
  return pipeline(bytes, verify, () => undefined);
}

async function* allBytes(connection: RegistryConnection, download: BlobDownload): AsyncGenerator<Buffer> {
  try {
    yield* resumingReads(
      (offset) => oneConnection(connection, download, offset),
      download.offset ?? 0,
      download.signal,
    );
  } catch (thrown) {
    throw unreachable(thrown, connection.registry, `read blob ${download.content.digest}`);
  }
}

async function* oneConnection(
  connection: RegistryConnection,
  { repository, content, signal }: BlobDownload,
  offset: number,
): AsyncGenerator<Buffer> {
  const response = await connection.call({
    method: 'GET',
    repository,
    target: `blobs/${content.digest}`,
    action: `read blob ${content.digest}`,
    expect: offset === 0 ? [200] : [200, 206],
    signal,
    ...(offset === 0 ? {} : { headers: { range: `bytes=${offset}-` } }),
  });
  try {
    yield* skipping(response, response.statusCode === 206 ? 0 : offset);
  } catch (thrown) {
    throw thrown instanceof Error ? namingFault(thrown, connection.base) : thrown;
  }
}
