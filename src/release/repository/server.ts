// The HTTPS server of files and charts that `bke serve` runs: read-only, ranges, ETag = digest, no limit on how long a download takes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { BkeError } from '../../lib/errors.ts';
import { toError } from '../../lib/thrown.ts';
import { type DownloadLimits, Downloads, slowestDownload } from './downloads.ts';
import { handle, sendText, type Site } from './handler.ts';
import { PerClient } from './per-client.ts';
import { type CertificateFiles, keepCertificates, type KeyPair, readKeyPair } from './server-certificates.ts';
import type { Area, FileRepository } from './store.ts';

export interface AccessRecord {
  readonly time: string;
  readonly area: Area;
  readonly client: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Body bytes sent. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly range?: string;
  readonly userAgent?: string;
  /** false where the client went away before the end. */
  readonly complete: boolean;
}

export interface FileServerOptions {
  readonly repository: FileRepository;
  /** Address to listen on; default all. */
  readonly address?: string;
  readonly filesPort: number;
  readonly chartsPort: number;
  /** PEM files; read again when they change or `reloadCertificates` is called. */
  readonly tls: CertificateFiles;
  /** Downloads at once; more are answered 429 with Retry-After. Default 128. One client has at most half of them. */
  readonly maxStreams?: number;
  /** Default `slowestDownload`. */
  readonly slowest?: DownloadLimits['slowest'];
  /** Longest silence of a client; default 120 000 ms. */
  readonly idleTimeoutMs?: number;
  readonly onAccess?: (record: AccessRecord) => void;
  /** What is wrong without stopping the server: a certificate that can't be read, a fault while answering. */
  readonly onWarning?: (message: string) => void;
}

export interface FileServer {
  /** The ports it listens on (where 0 was asked, the one it got). */
  readonly filesPort: number;
  readonly chartsPort: number;
  reloadCertificates(): Promise<void>;
  /** Takes no more connections, lets downloads finish for at most `graceMs` (default 10 000), then ends them. */
  stop(graceMs?: number): Promise<void>;
}

/** @throws BkeError BKE_CERTIFICATE_UNREADABLE; a system error where a port can't be had. */
export async function startFileServer(options: FileServerOptions): Promise<FileServer> {
  const pair = await readKeyPair(options.tls);
  const most = options.maxStreams ?? 128;
  const mostPerClient = Math.ceil(most / 2);
  const downloads = new Downloads({ most, mostPerClient, slowest: options.slowest ?? slowestDownload });
  const servers = {
    files: serverOf({ repository: options.repository, area: 'files', downloads }, options, pair),
    charts: serverOf({ repository: options.repository, area: 'charts', downloads }, options, pair),
  };
  const all = [servers.files, servers.charts];
  try {
    const filesPort = await listen(servers.files, options.filesPort, options.address);
    const chartsPort = await listen(servers.charts, options.chartsPort, options.address);
    const certificates = keepCertificates(all, options.tls, options.onWarning ?? ignore);
    return {
      filesPort,
      chartsPort,
      reloadCertificates: () => certificates.reload(),
      stop: async (graceMs = 10_000) => {
        certificates.stop();
        await Promise.all(all.map((server) => stopServer(server, graceMs)));
      },
    };
  } catch (thrown) {
    for (const server of all) server.close();
    throw thrown;
  }
}

function ignore(): void {
  // a caller without interest in warnings
}

function serverOf(site: Site, options: FileServerOptions, pair: KeyPair): Server {
  const tls = { ...pair, minVersion: 'TLSv1.2', handshakeTimeout: 30_000 } as const;
  const server = createServer(tls, (message, response) => {
    void answer(site, options, message, response);
  });
  // Only silence or next to it (DownloadLimits) ends a connection: a download may take as long as it takes.
  server.timeout = options.idleTimeoutMs ?? 120_000;
  server.requestTimeout = 60_000;
  server.headersTimeout = 30_000;
  server.keepAliveTimeout = 30_000;
  server.maxConnections = maxConnections;
  limitPerClient(server, maxConnections / 2);
  return server;
}

/** Of each port. More than a site has hosts: who waits for its turn to download should be told so, not be cut. */
const maxConnections = 2048;

/** Connections that one address has beyond `most` are closed at once. */
function limitPerClient(server: Server, most: number): void {
  const clients = new PerClient(most);
  server.on('connection', (socket: Socket) => {
    const client = socket.remoteAddress ?? '';
    if (clients.enter(client)) socket.once('close', () => clients.leave(client));
    else socket.destroy();
  });
}

async function answer(
  site: Site,
  options: FileServerOptions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const time = new Date().toISOString();
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  const bytes = await handle(site, message, response).catch((thrown: unknown) =>
    failed(options, message, response, thrown),
  );
  await closed;
  const durationMs = Math.round(performance.now() - started);
  options.onAccess?.({ time, ...recordOf(site, message, response), bytes, durationMs });
}

function failed(
  options: FileServerOptions,
  message: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
): number {
  options.onWarning?.(`${message.method ?? ''} ${message.url ?? ''}: ${toError(thrown).message}`);
  if (!response.headersSent)
    return sendText(message, response, { status: 500, body: 'the server failed; its log tells why\n' });
  response.destroy();
  return 0;
}

function recordOf(
  { area }: Site,
  { method, url, headers, socket }: IncomingMessage,
  response: ServerResponse,
): Omit<AccessRecord, 'time' | 'bytes' | 'durationMs'> {
  return {
    area,
    client: socket.remoteAddress ?? '',
    method: method ?? '',
    path: url ?? '',
    status: response.statusCode,
    complete: response.writableFinished,
    ...(headers.range === undefined ? {} : { range: headers.range }),
    ...(headers['user-agent'] === undefined ? {} : { userAgent: headers['user-agent'] }),
  };
}

async function listen(server: Server, port: number, address: string | undefined): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, ...(address === undefined ? {} : { host: address }) }, resolve);
  await promise;
  server.off('error', reject);
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new BkeError('BKE_INTERNAL', 'the server has no port');
  return bound.port;
}

async function stopServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const waited = new AbortController();
  const patience = pause(graceMs, undefined, { signal: waited.signal }).then(
    () => server.closeAllConnections(),
    ignore,
  );
  await Promise.race([closed, patience]);
  waited.abort();
  await closed;
}
