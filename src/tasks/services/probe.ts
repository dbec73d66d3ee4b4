// Asks a local service over HTTPS, the way another host would: by the site name, trusting the site CA only, past every proxy.
import { request } from 'node:https';
import { tlsTrust } from '../../lib/tls-trust.ts';

export interface ProbeTarget {
  /** Address to connect to. */
  readonly address: string;
  readonly port: number;
  /** Name the certificate must have. */
  readonly serverName: string;
  readonly path: string;
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD';
  /** PEM of the site CA. */
  readonly ca: string;
  readonly timeoutMs?: number;
}

export interface ProbeAnswer {
  readonly status: number;
  /** Of the body, as the answer's head says it; undefined where it does not. */
  readonly bytes: number | undefined;
  readonly milliseconds: number;
}

/** @throws Error with the system's own words: refused, no answer in time, a certificate that is not the site's. */
export async function probeHttps(target: ProbeTarget): Promise<ProbeAnswer> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: target.address,
        port: target.port,
        path: target.path,
        method: target.method ?? 'GET',
        servername: target.serverName,
        headers: { host: `${target.serverName}:${target.port}` },
        ...tlsTrust([target.ca]),
        // Without an agent no proxy and no kept connection comes between.
        agent: false,
        signal: AbortSignal.timeout(target.timeoutMs ?? 5000),
      },
      (response) => {
        response.resume();
        const length = response.headers['content-length'];
        const bytes = length === undefined ? undefined : Number(length);
        resolve({ status: response.statusCode ?? 0, bytes, milliseconds: Math.round(performance.now() - started) });
      },
    );
    sent.on('error', (error) => {
      const late = error.name === 'TimeoutError' || error.name === 'AbortError';
      reject(late ? new Error(`no answer within ${(target.timeoutMs ?? 5000) / 1000} s`) : error);
    });
    sent.end();
  });
}
