// A file repository that breaks off: each file is sent to its half once, and from there when it is asked again.
import { once } from 'node:events';
import { createServer } from 'node:https';
import { digestOf, type Digest } from '../../../src/lib/digest.ts';
import { makeClusterCertificates } from '../kube/certificates.ts';

export interface BreakingSite {
  readonly ca: string;
  readonly port: number;
  /** What was asked for: path and first byte. */
  readonly requests: string[];
  /** While true, the second half of a file does not come. */
  stalled: boolean;
  digest(name: string): Digest;
  close(): Promise<void>;
}

const bytesOf = (name: string): Buffer => Buffer.from(`#!/bin/sh\n# ${name}\n`.padEnd(300_000, name));

export async function startSite(): Promise<BreakingSite> {
  const { ca, serving } = await makeClusterCertificates();
  const requests: string[] = [];
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    const name = (request.url ?? '').slice(1);
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const bytes = bytesOf(name);
    requests.push(`${name} ${start}`);
    const rest = bytes.subarray(start);
    response.writeHead(start === 0 ? 200 : 206, { 'content-length': rest.length });
    if (site.stalled) response.write(rest.subarray(0, rest.length / 2));
    else response.end(rest);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const site: BreakingSite = {
    ca: ca.certificate,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    requests,
    stalled: false,
    digest: (name) => digestOf(bytesOf(name)),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return site;
}
