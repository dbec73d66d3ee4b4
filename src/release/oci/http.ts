// One HTTPS exchange with a registry: own certificate list, silence bounded but not the whole, faults named.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import type { Readable } from 'node:stream';
import { getSystemErrorMap } from 'node:util';
import { pipeline } from 'node:stream/promises';
import { BkeError } from '../../lib/errors.ts';
import { tlsTrust } from '../../lib/tls-trust.ts';
import { errorField } from '../../lib/thrown.ts';

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

const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself and not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from a CA that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from a CA that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from a CA that is not trusted',
};

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
]);

/** Anything that is no fault of the connection comes back as it is. */
export function namingFault(error: Error, url: URL): Error {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const certificate = certificateFaults[code];
  if (certificate !== undefined) {
    return new BkeError('BKE_REGISTRY_TLS', `${url.host} cannot be trusted: ${certificate}`, {
      cause: error,
      hint: 'Give the certificate of its CA, or correct the address.',
    });
  }
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new BkeError('BKE_REGISTRY_TLS', `${url.host} does not speak TLS: a plain HTTP port?`, { cause: error });
  }
  if (networkCodes.has(code)) return new NetworkError(`${url.host}: ${reasonOf(error, code, url)}`, { cause: error });
  return error;
}

/** In words; the address that did not answer is told where it is not the one that was asked for: a proxy's. */
function reasonOf(error: Error, code: string, url: URL): string {
  if (code === 'ENOTFOUND') return 'no such host name is known here';
  const errno = errorField(error, 'errno');
  const words = typeof errno === 'number' ? getSystemErrorMap().get(errno)?.[1] : undefined;
  if (words === undefined) return error.message;
  const address = `${String(errorField(error, 'address'))}:${String(errorField(error, 'port'))}`;
  return error.message.includes(address) && address !== url.host ? `${words} (${address})` : words;
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
