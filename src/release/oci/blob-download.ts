// Reads a blob from a registry as one verified stream, over as many connections as it takes.
import { pipeline, Readable } from 'node:stream';
import { backOff } from '../../lib/back-off.ts';
import { BkeError } from '../../lib/errors.ts';
import { type Content, verifying } from '../../lib/digest.ts';
import { namingFault } from './http.ts';
import { isNetworkError, type RegistryConnection } from './registry-connection.ts';
import { unreachable } from './registry-errors.ts';

export interface BlobDownload {
  readonly repository: string;
  readonly content: Content;
  readonly signal?: AbortSignal | undefined;
}

/** Broken connections in a row without one byte in between. */
const fruitlessLimit = 4;

export function readBlobFrom(connection: RegistryConnection, download: BlobDownload): Readable {
  const { repository, content } = download;
  const verify = verifying(content, (actual) => {
    const source = `${connection.registry}/${repository}`;
    return new BkeError(
      'BKE_DIGEST_MISMATCH',
      `${source}: the blob should be ${content.digest} (${content.size} bytes) but is ${actual.digest} (${actual.size} bytes)`,
    );
  });
  // An error reaches the reader through `verify`, which pipeline destroys with it.
  return pipeline(Readable.from(chunks(connection, download), { objectMode: false }), verify, () => undefined);
}

async function* chunks(connection: RegistryConnection, download: BlobDownload): AsyncGenerator<Buffer> {
  let offset = 0;
  let fruitless = 0;
  while (true) {
    const before = offset;
    try {
      for await (const chunk of oneConnection(connection, download, offset)) {
        offset += chunk.length;
        yield chunk;
      }
      return;
    } catch (thrown) {
      fruitless = offset > before ? 1 : fruitless + 1;
      if (!isNetworkError(thrown) || fruitless >= fruitlessLimit) {
        throw unreachable(thrown, connection.registry, `read blob ${download.content.digest}`);
      }
      await backOff(fruitless, 250, download.signal);
    }
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
  // A server may ignore the range and begin again.
  let skip = response.statusCode === 206 ? 0 : offset;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const rest = chunk.subarray(Math.min(skip, chunk.length));
      skip -= chunk.length - rest.length;
      if (rest.length > 0) yield rest;
    }
  } catch (thrown) {
    throw thrown instanceof Error ? namingFault(thrown, connection.base) : thrown;
  }
}
