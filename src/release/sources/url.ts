// A file from an https address, resumable.
import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import { BkeError } from '../../lib/errors.ts';
import type { Digest } from '../../lib/digest.ts';
import { discard, exchange, namingFault, NetworkError } from '../oci/http.ts';
import { resumingReads, skipping } from '../oci/resuming.ts';
import type { RemoteBlob } from './blob-cache.ts';

const redirectLimit = 10;
const redirects = [301, 302, 303, 307, 308];
const idleTimeoutMs = 60_000;

export interface UrlSource {
  readonly url: string;
  readonly digest: Digest;
  readonly agent: Agent;
  readonly signal?: AbortSignal | undefined;
}

export function urlBlob(source: UrlSource): RemoteBlob {
  return { digest: source.digest, where: source.url, fetch: (offset) => fetchFrom(source, offset) };
}

async function* fetchFrom(source: UrlSource, start: number): AsyncGenerator<Buffer> {
  try {
    yield* resumingReads((offset) => oneConnection(source, offset), start, source.signal);
  } catch (thrown) {
    if (!(thrown instanceof NetworkError)) throw thrown;
    throw new BkeError('BKE_DOWNLOAD_FAILED', `cannot download ${source.url}: ${thrown.message}`, {
      cause: thrown,
      hint: 'Run the same command again: what arrived is kept.',
    });
  }
}

async function* oneConnection(source: UrlSource, offset: number): AsyncGenerator<Buffer> {
  const response = await follow(source, offset);
  const { statusCode = 0 } = response;
  // Nothing lies behind what is there: the digest will tell whether that is all of it.
  if (statusCode === 416 && offset > 0) {
    discard(response);
    return;
  }
  if (statusCode !== 200 && statusCode !== 206) {
    discard(response);
    throw new BkeError('BKE_DOWNLOAD_FAILED', `cannot download ${source.url}: HTTP ${statusCode}`);
  }
  try {
    yield* skipping(response, statusCode === 206 ? 0 : offset);
  } catch (thrown) {
    throw thrown instanceof Error ? namingFault(thrown, new URL(source.url)) : thrown;
  }
}

async function follow(source: UrlSource, offset: number): Promise<IncomingMessage> {
  const headers = { 'user-agent': 'bke', ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) };
  let url = new URL(source.url);
  for (let hop = 0; ; hop += 1) {
    const response = await exchange({
      method: 'GET',
      url,
      headers,
      idleTimeoutMs,
      agent: source.agent,
      signal: source.signal,
    });
    const { location } = response.headers;
    if (!redirects.includes(response.statusCode ?? 0) || location === undefined) return response;
    discard(response);
    url = new URL(location, url);
    if (hop === redirectLimit || url.protocol !== 'https:') {
      throw new BkeError(
        'BKE_DOWNLOAD_FAILED',
        `cannot download ${source.url}: it leads to ${url.href}, which is not followed`,
      );
    }
  }
}
