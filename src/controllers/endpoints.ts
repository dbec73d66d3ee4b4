// The plain HTTP endpoints of a controller process: health for the kubelet, metrics for Prometheus.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Default text/plain. */
  readonly type?: string;
}

/** By path. */
export type Routes = Readonly<Record<string, () => Reply | Promise<Reply>>>;

export interface Endpoint {
  /** What it listens on; where 0 was asked, the one it got. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Nobody who asks for these needs longer. */
const requestTimeoutMs = 10_000;

/** On all addresses: the kubelet and Prometheus come from outside of the pod. @throws a system error where the port can't be had. */
export async function startEndpoint(port: number, routes: Routes): Promise<Endpoint> {
  const server = createServer((request, response) => {
    void answer(routes, request, response);
  });
  server.requestTimeout = requestTimeoutMs;
  server.headersTimeout = requestTimeoutMs;
  server.maxConnections = 64;
  server.listen(port);
  await once(server, 'listening');
  return { port: portOf(server), stop: () => stop(server) };
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, text, type = 'text/plain; charset=utf-8' } = await replyTo(routes, request);
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : text);
}

async function replyTo(routes: Routes, { method, url }: IncomingMessage): Promise<Reply> {
  const path = url?.split('?')[0] ?? '';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) return { status: 404, text: 'not found\n' };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'only GET and HEAD\n' };
  try {
    return await route();
  } catch {
    // What went wrong is nothing for whoever can reach the port.
    return { status: 500, text: 'failed\n' };
  }
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
