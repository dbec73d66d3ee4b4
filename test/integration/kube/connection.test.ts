// What a connection does when servers are away, hang, are busy, send too much, or are somebody else.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resetOrder } from '../../../src/controllers/host-command/bootstrap.ts';
import { fulfil } from '../../../src/controllers/host-command/give.ts';
import { Retries } from '../../../src/controllers/host-command/retries.ts';
import type { KubeClient, KubeObject, WatchEvent } from '../../../src/kube/client.ts';
import type { KubeConnection } from '../../../src/kube/connection.ts';
import { createKubeClient } from '../../../src/kube/create-client.ts';
import { type ClusterCertificates, makeClusterCertificates } from './certificates.ts';

let certificates: ClusterCertificates;
const ends: (() => void)[] = [];

beforeAll(async () => {
  certificates = await makeClusterCertificates();
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<string> {
  const server: Server = createServer(
    { cert: certificates.serving.certificate, key: certificates.serving.key },
    (request, response) => {
      request.resume();
      answer(request, response);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `https://127.0.0.1:${address.port}`;
}

const secret = 'hush-hush-token';

function clientOf(servers: readonly string[], connection: Partial<KubeConnection> = {}): KubeClient {
  const client = createKubeClient({
    servers,
    ca: [certificates.ca.certificate],
    credential: { type: 'token', token: async () => secret },
    ...connection,
  });
  ends.push(() => client.close());
  return client;
}

const json = (response: ServerResponse, body: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const closedServer = 'https://127.0.0.1:1';
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'x' } };
const resources = { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] };

/** Answers discovery, and leaves the rest to `answer`. */
const withResources =
  (answer: Answer): Answer =>
  (request, response) =>
    request.url === '/api/v1' ? json(response, resources) : answer(request, response);

describe('several servers', () => {
  it('goes to the next one where one is away, and stays there', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      json(response, { asked });
    });
    const client = clientOf([closedServer, url]);
    expect(await client.request('GET', '/version')).toEqual({ asked: 1 });
    expect(await client.request('GET', '/version')).toEqual({ asked: 2 });
  });

  it('asks another one next time when one never answers', async () => {
    const hanging = await serve(() => undefined);
    const living = await serve((_, response) => json(response, {}));
    const client = clientOf([hanging, living]);
    await expect(client.request('GET', '/version', { timeoutMs: 200 })).rejects.toThrow('no answer within 0.2 s');
    expect(await client.request('GET', '/version')).toEqual({});
  });

  it('names each with its reason where none answers, and no secret', async () => {
    const failure = clientOf([closedServer, 'https://127.0.0.1:2']).request('GET', '/version');
    await expect(failure).rejects.toMatchObject({
      code: 'BKE_KUBE_UNREACHABLE',
      message: 'no API server answers: 127.0.0.1:1: connection refused; 127.0.0.1:2: connection refused',
    });
    await expect(failure).rejects.not.toThrow(secret);
  });

  it('sends what may be done twice to the next one when a server dies over it, and nothing else', async () => {
    const hang: Answer = (request) => void request.socket.destroy();
    const asked: (string | undefined)[] = [];
    const dying = await serve(withResources(hang));
    const living = await serve(
      withResources((request, response) => {
        asked.push(request.method);
        json(response, configMap);
      }),
    );
    expect(await clientOf([dying, living]).get({ ...configMap, name: 'x' })).toMatchObject({ kind: 'ConfigMap' });
    await expect(clientOf([dying, living]).create(configMap)).rejects.toMatchObject({ code: 'BKE_KUBE_UNREACHABLE' });
    expect(asked).toEqual(['GET']);
  });
});

describe('a server that is not well', () => {
  it('is given up on when it takes the request and never answers', async () => {
    const url = await serve(() => undefined);
    const started = performance.now();
    const failure = clientOf([url]).request('GET', '/version', { timeoutMs: 300 });
    await expect(failure).rejects.toMatchObject({ code: 'BKE_KUBE_UNREACHABLE' });
    await expect(failure).rejects.toThrow('no answer within 0.3 s');
    expect(performance.now() - started).toBeLessThan(2000);
    const impatient = clientOf([url], { readTimeoutMs: 200 });
    await expect(impatient.list(configMap)).rejects.toThrow('no API server answers: no answer within 0.2 s');
  });

  it('is given up on when it stops in the middle of an answer', async () => {
    const url = await serve((_, response) => void response.writeHead(200, { 'content-length': 100 }).write('{'));
    const failure = clientOf([url]).request('GET', '/version', { timeoutMs: 300 });
    await expect(failure).rejects.toMatchObject({ code: 'BKE_KUBE_UNREACHABLE' });
  });

  it('ends with the caller’s own reason when the caller gives up', async () => {
    const url = await serve(() => undefined);
    const stop = new AbortController();
    const waiting = clientOf([url]).request('GET', '/version', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(waiting).rejects.toThrow('enough');
  });

  it('is asked again when it says that it is busy', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      if (asked < 3) response.writeHead(429, { 'retry-after': '0' }).end('busy');
      else json(response, { asked });
    });
    expect(await clientOf([url]).request('POST', '/x', { body: {} })).toEqual({ asked: 3 });
  });

  it('cannot fill the memory', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const url = await serve((_, response) => {
      response.writeHead(200);
      const more = (): void => void response.write(chunk, (error) => (error ? undefined : more()));
      more();
    });
    await expect(clientOf([url]).request('GET', '/x')).rejects.toMatchObject({
      code: 'BKE_KUBE_FAILED',
      message: 'the API server sent more than 64 MiB at once',
    });
  });

  it('does not get a secret back into an error', async () => {
    const body = { ...configMap, data: { password: 'open-sesame' } };
    const url = await serve(
      withResources((_, response) => json(response, { kind: 'Status', message: 'bad value "open-sesame"' }, 422)),
    );
    const refused = clientOf([url]).create(body);
    await expect(refused).rejects.toMatchObject({ code: 'BKE_KUBE_REFUSED' });
    await expect(refused).rejects.toThrow('bad value "[secret]"');
  });

  it('is told by what it said where it is no API server', async () => {
    const url = await serve((_, response) => void response.writeHead(502).end('<h1>Bad\u001B[2J gateway</h1>'));
    await expect(clientOf([url]).request('GET', '/version')).rejects.toMatchObject({
      code: 'BKE_KUBE_FAILED',
      message: 'GET /version: <h1>Bad gateway</h1>',
    });
  });
});

describe('whom it trusts', () => {
  it('sends nothing to a server of another CA', async () => {
    let asked = 0;
    const url = await serve(() => (asked += 1));
    const other = await makeClusterCertificates();
    const failure = clientOf([url], { ca: [other.ca.certificate] }).request('GET', '/version');
    await expect(failure).rejects.toThrow('its certificate comes from a CA that is not trusted');
    expect(asked).toBe(0);
  });

  it('sends nothing to a server whose certificate is for another name, unless that name is asked for', async () => {
    const url = await serve((_, response) => json(response, {}));
    const failure = clientOf([url], { serverName: 'other.example' }).request('GET', '/version');
    await expect(failure).rejects.toThrow('its certificate is for other names');
    const client = clientOf([url], { serverName: 'kubernetes.default.svc' });
    expect(await client.request('GET', '/version')).toEqual({});
  });

  it('sends nothing without TLS', async () => {
    const server = createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    const address = server.address();
    const port = address === null || typeof address === 'string' ? 0 : address.port;
    const failure = clientOf([`https://127.0.0.1:${port}`]).request('GET', '/version');
    await expect(failure).rejects.toThrow('it does not speak TLS');
  });
});

describe('a watch', () => {
  const options = { resourceVersion: '7', signal: new AbortController().signal };
  const event = (name: string): string =>
    `${JSON.stringify({ type: 'ADDED', object: { ...configMap, metadata: { name } } })}\n`;

  async function eventsOf(text: readonly string[], end: (response: ServerResponse) => void): Promise<WatchEvent[]> {
    const url = await serve(
      withResources((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        for (const [index, part] of text.entries()) setTimeout(() => response.write(part), 10 * index);
        setTimeout(() => end(response), 10 * text.length + 20);
      }),
    );
    const events: WatchEvent[] = [];
    for await (const found of clientOf([url]).watch(configMap, options)) events.push(found);
    return events;
  }

  it('reads events that come in pieces and several at once, and ends with the server', async () => {
    const first = event('ä');
    const bytes = [first.slice(0, 30), `${first.slice(30)}${event('b')}${event('c').slice(0, -1)}`, '\n'];
    const events = await eventsOf(bytes, (response) => response.end());
    expect(events.map((found) => ('object' in found ? found.object.metadata.name : found.type))).toEqual([
      'BOOKMARK',
      'ä',
      'b',
      'c',
    ]);
  });

  it('says that it broke off', async () => {
    const broken = eventsOf([event('a')], (response) => response.destroy());
    await expect(broken).rejects.toMatchObject({ code: 'BKE_KUBE_UNREACHABLE' });
  });

  it('says that the history is gone', async () => {
    const status = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };
    const gone = eventsOf([`${JSON.stringify(status)}\n`], (response) => response.end());
    await expect(gone).rejects.toMatchObject({ code: 'BKE_KUBE_EXPIRED', message: 'watch configmaps: too old' });
  });

  it('refuses what is no event', async () => {
    await expect(eventsOf(['hello\n'], (response) => response.end())).rejects.toMatchObject({
      code: 'BKE_KUBE_FAILED',
    });
  });
});

describe('a custom resource', () => {
  const host = { namespace: 'bke', name: 'w1' };
  const kinds = { resources: [{ name: 'hostcommands', kind: 'HostCommand', namespaced: true }] };
  /** Those that a custom resource takes: a strategic merge patch is none. */
  const fitting = ['application/merge-patch+json', 'application/json-patch+json', 'application/apply-patch+yaml'];
  interface Change {
    readonly metadata?: { readonly annotations?: object; readonly resourceVersion?: string };
    readonly spec?: object;
  }
  const refusal = (code: number, reason: string): object => ({
    kind: 'Status',
    status: 'Failure',
    code,
    reason,
    message: reason,
  });

  /** An API server with one HostCommand, to which somebody else writes after each of the first `times` reads. */
  async function commandServer(times: number): Promise<{ url: string; statuses: number[]; command: () => KubeObject }> {
    let version = 1;
    let left = times;
    const statuses: number[] = [];
    let command: KubeObject = {
      apiVersion: 'bke.io/v1alpha1',
      kind: 'HostCommand',
      metadata: { ...host, annotations: {}, resourceVersion: '1' },
      spec: { commandID: 'none-yet', leaseGeneration: 0, steps: [] },
    };
    const write = (change: Change): void => {
      version += 1;
      const { annotations = {} } = change.metadata ?? {};
      const metadata = {
        ...command.metadata,
        annotations: { ...command.metadata.annotations, ...annotations },
        resourceVersion: String(version),
      };
      command = { ...command, metadata, spec: { ...Object(command['spec']), ...change.spec } };
    };
    const patched = (type: string | undefined, body: string): [number, object] => {
      if (!fitting.includes(type ?? '')) return [415, refusal(415, 'UnsupportedMediaType')];
      const change: Change = JSON.parse(body);
      if (change.metadata?.resourceVersion !== String(version)) return [409, refusal(409, 'Conflict')];
      write(change);
      return [200, command];
    };
    const url = await serve((request, response) => {
      if (request.url === '/apis/bke.io/v1alpha1') return json(response, kinds);
      if (!request.url?.includes('/hostcommands/')) return json(response, refusal(404, 'NotFound'), 404);
      if (request.method === 'GET') {
        json(response, command);
        if (left > 0) write({ metadata: { annotations: { [`theirs-${left}`]: 'stays' } } });
        left -= 1;
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const [status, answer] = patched(request.headers['content-type'], Buffer.concat(chunks).toString());
        statuses.push(status);
        json(response, answer, status);
      });
    });
    return { url, statuses, command: () => command };
  }

  it('is written in the third try where two came in between, and what they wrote is still there', async () => {
    const server = await commandServer(2);
    const giving = { client: clientOf([server.url]), host, leaseGeneration: 1, retries: new Retries() };
    for (let attempt = 0; attempt < 3; attempt += 1) await fulfil(giving, resetOrder('aaaaaaaaaa'));
    expect(server.statuses).toEqual([409, 409, 200]);
    expect(server.command()).toMatchObject({
      metadata: { annotations: { 'theirs-2': 'stays', 'theirs-1': 'stays' } },
      spec: { leaseGeneration: 1, commandID: expect.stringMatching(/^reset-/) },
    });
  });

  it('is patched in forms that it takes only, and an old version of it is a conflict', async () => {
    const server = await commandServer(0);
    const client = clientOf([server.url]);
    const key = { apiVersion: 'bke.io/v1alpha1', kind: 'HostCommand', ...host };
    const object = { apiVersion: key.apiVersion, kind: key.kind, metadata: { ...host, resourceVersion: '1' } };
    await client.patch(key, { metadata: { resourceVersion: '1' } }, { type: 'merge', fieldManager: 'test' });
    const old = client.patch(key, { metadata: { resourceVersion: '1' } }, { type: 'merge', fieldManager: 'test' });
    await expect(old).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    await expect(client.apply(object, { fieldManager: 'test' })).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    const inJson = client.patch(key, [], { type: 'json', fieldManager: 'test' });
    await expect(inJson).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    expect(server.statuses).toEqual([200, 409, 409, 409]);
  });
});
