// Watches that die in silence or storm: a real server for each fault, the clock of tests for the hours.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKubeClient } from '../../../src/kube/create-client.ts';
import { type Change, type Informer, startInformer } from '../../../src/kube/informer.ts';
import { type ClusterCertificates, makeClusterCertificates } from './certificates.ts';

/** For so long the server is at fault; then it is well. */
const faultMs = 60_000;
/** Longer than the silence that is borne (150 s). */
const wellMs = 160_000;
const stepMs = 1000;
const names = ['silentHead', 'silent', 'reset', 'event410', 'status410', 'token', 'halfEnded', 'halfOpen', 'vanished'];

type Watch = (response: ServerResponse) => void;

interface Case {
  readonly informer: Informer;
  readonly told: string[];
  /** When, by the clock of the test. */
  readonly requests: number[];
}

let certificates: ClusterCertificates;
let server: Server;
let began = 0;
const stop = new AbortController();
const cases = new Map<string, Case>();
const clients: { close(): void }[] = [];
/** How it was when the fault had lasted. */
const atFault = new Map<string, ReturnType<Informer['state']>>();

const elapsed = (): number => performance.now() - began;
const isWell = (): boolean => elapsed() >= faultMs;
const object = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name, uid: name, resourceVersion },
});
const line = (type: string, thing: object): string => `${JSON.stringify({ type, object: thing })}\n`;
const list = { apiVersion: 'v1', kind: 'ConfigMapList' };
const gone = { kind: 'Status', apiVersion: 'v1', code: 410, reason: 'Expired', message: 'too old' };
const head = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'application/json' });

/** What each fault's watch does. */
const watches: Readonly<Record<string, Watch>> = {
  silentHead: () => undefined,
  silent: (response) => head(response).flushHeaders(),
  reset: (response) => void response.socket?.destroy(),
  event410: (response) => void head(response).end(line('ERROR', gone)),
  status410: (response) => void response.writeHead(410).end(JSON.stringify(gone)),
  // Good until the server takes another token only.
  token: (response) => {
    head(response).flushHeaders();
    setTimeout(() => response.end(), 10_000);
  },
  halfEnded: (response) => void head(response).end(line('ADDED', object('b', '8')).slice(0, 40)),
  halfOpen: (response) => void head(response).write(line('ADDED', object('b', '8')).slice(0, 40)),
  // Its history is gone when it is asked again.
  vanished: (response) => {
    if (hasChanged()) response.writeHead(410).end(JSON.stringify(gone));
    else setTimeout(() => head(response).destroy(), 5000 - elapsed());
  },
};

/** A watch as it should be: what happened since, and a bookmark a minute. */
function goodWatch(response: ServerResponse, from: string | null): void {
  head(response).flushHeaders();
  if (from === '5') response.write(line('DELETED', object('a', '7')) + line('ADDED', object('b', '8')));
  const timer = setInterval(() => response.write(line('BOOKMARK', object('', '9'))), 60_000);
  response.once('close', () => clearInterval(timer));
}

const hasChanged = (): boolean => elapsed() > 5000;
const version = (): string => (hasChanged() ? '8' : '5');

/** What there is: `b` comes and `a` goes while nobody is told. */
function items(): object[] {
  return hasChanged() ? [object('b', '8')] : [object('a', '1')];
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'https://x');
  const name = names.find((one) => url.pathname.startsWith(`/${one}/`)) ?? '';
  if (url.pathname.endsWith('/api/v1')) {
    response.end(JSON.stringify({ resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] }));
    return;
  }
  const watch = url.searchParams.has('watch');
  cases.get(name)?.requests.push(elapsed());
  const fault = isWell() ? undefined : watches[name];
  if (name === 'token' && !isKnown(request)) {
    response.writeHead(401).end(JSON.stringify({ kind: 'Status', code: 401, message: 'Unauthorized' }));
  } else if (!watch) {
    head(response).end(JSON.stringify({ ...list, metadata: { resourceVersion: version() }, items: items() }));
  } else if (fault === undefined) {
    goodWatch(response, url.searchParams.get('resourceVersion'));
  } else {
    fault(response);
  }
}

function isKnown({ headers }: IncomingMessage): boolean {
  return headers.authorization === `Bearer ${elapsed() > 10_000 ? 'new' : 'old'}`;
}

function follow(name: string, url: string): Case {
  const told: string[] = [];
  const client = createKubeClient({
    servers: [`${url}/${name}`],
    ca: [certificates.ca.certificate],
    // Changed on the disk half a minute after the server wants the new one.
    credential: { type: 'token', token: async () => (elapsed() > 40_000 && name === 'token' ? 'new' : 'old') },
  });
  clients.push(client);
  const onChange = ({ type, object: { metadata } }: Change): void => void told.push(`${type} ${metadata.name}`);
  const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
  return { informer: startInformer({ client, kind, signal: stop.signal, onChange }), told, requests: [] };
}

/** Real time, in which what was sent arrives and connections are made; else a busy machine is slower than the clock of the test. */
async function turns(): Promise<void> {
  const until = process.hrtime.bigint() + 5_000_000n;
  while (process.hrtime.bigint() < until) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await vi.advanceTimersByTimeAsync(stepMs);
    await turns();
  }
}

beforeAll(async () => {
  certificates = await makeClusterCertificates();
  const { certificate, key } = certificates.serving;
  server = createServer({ cert: certificate, key }, answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  began = performance.now();
  for (const name of names) cases.set(name, follow(name, `https://127.0.0.1:${address.port}`));
  // The first connections take real time.
  for (const { informer } of cases.values()) await informer.synced();
  await pass(faultMs);
  for (const [name, { informer }] of cases) atFault.set(name, informer.state());
  await pass(wellMs);
}, 60_000);

afterAll(async () => {
  stop.abort();
  vi.useRealTimers();
  for (const client of clients) client.close();
  server.closeAllConnections();
  server.close();
});

describe.each(names)('a watch that meets the fault %s', (name) => {
  it('asks less than once a second, with growing pauses', () => {
    const times = (cases.get(name)?.requests ?? []).filter((at) => at < faultMs);
    expect(times.length).toBeGreaterThanOrEqual(2);
    expect(times.length).toBeLessThan(faultMs / 1000);
    const lastSeconds = times.filter((at) => at > faultMs - 10_000);
    expect(lastSeconds.length).toBeLessThanOrEqual(4);
  });

  it('has in the end what a list has, and tells what vanished and came meanwhile', () => {
    const { informer, told } = cases.get(name) ?? {};
    expect(informer?.items().map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(told).toEqual(['added a', 'deleted a', 'added b']);
    const state = informer?.state();
    expect(state?.syncedSince).toBeInstanceOf(Date);
    expect(state?.silentMs).toBeLessThanOrEqual(60_000 + 2 * stepMs);
  });
});

it('tells of a fault while it lasts, and how old the last word is', () => {
  for (const name of ['reset', 'event410', 'status410', 'token', 'halfEnded', 'vanished']) {
    expect(atFault.get(name)?.lastError?.message, name).toBeTruthy();
  }
  // Nothing tells a silent watch from a quiet one but its age, until it is given up.
  expect(atFault.get('silent')?.silentMs).toBeGreaterThan(faultMs - 5000);
  expect(atFault.get('silentHead')?.silentMs).toBeGreaterThan(faultMs - 5000);
  expect(atFault.get('token')?.lastError?.message).toContain('Unauthorized');
});
