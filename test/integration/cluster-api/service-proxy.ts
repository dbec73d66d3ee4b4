// Services without a node: the API server reaches webhooks through this CONNECT proxy, which knows where each Service's program listens.
// So the webhook configurations stay as they were installed, and TLS goes from the API server to the manager.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface ServiceProxy {
  /** `<cluster IP>:<port>` -> port on loopback; what is not in it is refused as a Service without endpoints is. */
  readonly targets: Map<string, number>;
  stop(): Promise<void>;
}

/** @param path of its socket */
export async function startServiceProxy(path: string): Promise<ServiceProxy> {
  const targets = new Map<string, number>();
  const open = new Set<Socket>();
  const server: Server = createServer();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
  });
  server.on('connect', (request, socket) => {
    const port = targets.get(request.url ?? '');
    if (port === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      return;
    }
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    targets,
    stop: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** The API server's `--egress-selector-config-file`. */
export function egressConfiguration(socket: string): string {
  return JSON.stringify({
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [
      {
        name: 'cluster',
        connection: { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: socket } } },
      },
    ],
  });
}
