// One HTTPS exchange with a registry: own certificate list, silence bounded but not the whole, faults named.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BkeError } from '../../lib/errors.ts';
import { certificateFault, isNoTls, networkFault } from '../../lib/network-fault.ts';
import { tlsTrust } from '../../lib/tls-trust.ts';

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers?: OutgoingHttpHeaders;
  /** Whole bytes, or a stream whose length the headers tell. */
  readonly body?: Buffer | Readable;
  /** Longest silence in ms. */
  readonly idleTimeoutMs: number;
  readonly agent: Agent;
  readonly signal?: AbortSignal | undefined;
}

/** The connection failed or went silent: the one kind of fault that is worth another try. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

export interface AgentOptions {
  /** PEM certificates to trust and no others; undefined: the public ones and the machine's own. */
  readonly ca: readonly string[] | undefined;
  /** HTTPS_PROXY and NO_PROXY are taken from it; undefined: always direct. */
  readonly proxyEnv: Readonly<Record<string, string | undefined>> | undefined;
}

export function createAgent({ ca, proxyEnv }: AgentOptions): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets: 16,
    ...tlsTrust(ca),
    ...(proxyEnv === undefined ? {} : { proxyEnv }),
  });
}

/** The answer's head has come; its body is still to be read, or `discard`ed. @throws NetworkError, BkeError BKE_REGISTRY_TLS */
export async function exchange(options: Exchange): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request(options.url, {
    method: options.method,
    agent: options.agent,
    headers: options.headers ?? {},
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  outgoing.setTimeout(options.idleTimeoutMs, () => {
    outgoing.destroy(new NetworkError(`${options.url.host} was silent for ${options.idleTimeoutMs / 1000} s`));
  });
  outgoing.on('response', resolve);
  outgoing.on('error', (error) => reject(options.signal?.aborted === true ? error : namingFault(error, options.url)));
  if (options.body === undefined || Buffer.isBuffer(options.body)) outgoing.end(options.body);
  // The fault of a source must win over the broken connection that it causes.
  else pipeline(options.body, outgoing).catch((error: unknown) => reject(sourceFault(error, options.url)));
  return promise;
}

function sourceFault(error: unknown, url: URL): unknown {
  return error instanceof Error ? namingFault(error, url) : error;
}

/** Anything that is no fault of the connection comes back as it is. */
export function namingFault(error: Error, url: URL): Error {
  const certificate = certificateFault(error);
  if (certificate !== undefined) {
    return new BkeError('BKE_REGISTRY_TLS', `${url.host} cannot be trusted: ${certificate}`, {
      cause: error,
      hint: 'Give the certificate of its CA, or correct the address.',
    });
  }
  if (isNoTls(error)) {
    return new BkeError('BKE_REGISTRY_TLS', `${url.host} does not speak TLS: a plain HTTP port?`, { cause: error });
  }
  const network = networkFault(error, url.host);
  return network === undefined ? error : new NetworkError(`${url.host}: ${network}`, { cause: error });
}

/** Lets the connection be used again. */
export function discard(response: IncomingMessage): void {
  response.resume();
}

/** A whole body; @throws BkeError BKE_REGISTRY_REFUSED where it is larger than `limit` bytes. */
export async function readBody(response: IncomingMessage, url: URL, limit = 4 * 1024 * 1024): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit)
        throw new BkeError('BKE_REGISTRY_REFUSED', `${url.host} sent more than ${limit} bytes for ${url.pathname}`);
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw sourceFault(thrown, url);
  }
  return Buffer.concat(chunks);
}
