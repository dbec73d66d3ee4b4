// Asks a service on a host of the test bed over HTTPS, by its site name, trusting the site CA only.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';

export interface Question {
  readonly address: string;
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const siteName = 'deploy.bke.internal';

export function ask({ address, port, path, ca, method = 'GET', headers = {} }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = {
      host: address,
      port,
      path,
      method,
      headers,
      ca,
      servername: siteName,
      agent: false,
      timeout: 30_000,
    } as const;
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('no answer within 30 s')));
    sent.end();
  });
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
