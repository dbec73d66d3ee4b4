// The real registry binary, twice on one store, with the configuration files bke writes.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapSettings } from '../../fakes/bootstrap-settings.ts';
import { type BootstrapSettings, defaultPorts } from '../../../src/config/bootstrap.ts';
import { createCaCertificate, generateKey, issueServingCertificate } from '../../../src/lib/x509.ts';
import { servicePaths } from '../../../src/tasks/services/layout.ts';
import { htpasswdLine } from '../../../src/tasks/services/push-login.ts';
import { probeHttps } from '../../../src/tasks/services/probe.ts';
import { renderRegistry } from '../../../src/tasks/services/render.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { freePort } from '../free-port.ts';

const domain = 'deploy.bke.internal';
const password = 'correct horse';
let folder: string;
let ca: string;
let settings: BootstrapSettings;
const running: ChildProcess[] = [];

interface Asked {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly login?: string;
  readonly body?: string;
  readonly type?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function ask({ port, method, path, login, body, type }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
      ...(type === undefined ? {} : { 'content-type': type }),
      'content-length': Buffer.byteLength(body ?? ''),
    };
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers, ca, servername: domain, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const login = `bke:${password}`;

async function push(text: string): Promise<string> {
  const port = settings.ports.registryPush;
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const started = await ask({ port, method: 'POST', path: '/v2/docker.io/library/x/blobs/uploads/', login });
  expect(started.status).toBe(202);
  const location = new URL(String(started.headers['location']));
  location.searchParams.set('digest', digest);
  const type = 'application/octet-stream';
  const path = `${location.pathname}${location.search}`;
  expect((await ask({ port, method: 'PUT', path, login, body: text, type })).status).toBe(201);
  return digest;
}

async function start(program: string, config: string): Promise<void> {
  const child = spawn(program, ['serve', config], { stdio: 'ignore', env: { OTEL_TRACES_EXPORTER: 'none' } });
  running.push(child);
}

async function untilAnswers(port: number, status: number): Promise<void> {
  const target = { address: '127.0.0.1', port, serverName: domain, path: '/v2/', ca };
  const deadline = Date.now() + 10_000;
  for (;;) {
    const found = await probeHttps(target).then(
      (answer) => answer.status,
      (error: Error) => error.message,
    );
    if (found === status) return;
    if (Date.now() > deadline) throw new Error(`port ${port} answers ${found}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-registry-'));
  const caKey = generateKey();
  const now = new Date();
  ca = await createCaCertificate(caKey, { commonName: 'test', now, days: 2 });
  const leaf = await issueServingCertificate(
    { certificate: ca, key: caKey },
    { commonName: domain, names: [domain], now, days: 1 },
  );
  const ports = { ...defaultPorts, registry: await freePort(), registryPush: await freePort() };
  settings = bootstrapSettings({ hostIP: '127.0.0.1', domain, ports, dataDir: folder });
  await mkdir(join(folder, 'registry'));
  const program = (await buildComponent('registry')).program('registry');
  const texts = await renderRegistry(settings, { program, uploadSecret: 'b1946ac9' });
  const here = (text: string): string => text.replaceAll(servicePaths.configDir, folder);
  await writeFile(join(folder, 'tls.crt'), leaf.certificate);
  await writeFile(join(folder, 'tls.key'), leaf.key);
  await writeFile(join(folder, 'htpasswd'), await htpasswdLine(password));
  await writeFile(join(folder, 'registry.yaml'), here(texts.registryConfig));
  await writeFile(join(folder, 'registry-push.yaml'), here(texts.registryPushConfig));
  await chmod(folder, 0o755);
  await start(program, join(folder, 'registry.yaml'));
  await start(program, join(folder, 'registry-push.yaml'));
  await untilAnswers(ports.registry, 200);
  await untilAnswers(ports.registryPush, 401);
});

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

describe('the two registries on one store', () => {
  it('show a push at once to everybody', async () => {
    const digest = await push('hello');
    const read = await ask({
      port: settings.ports.registry,
      method: 'GET',
      path: `/v2/docker.io/library/x/blobs/${digest}`,
    });
    expect([read.status, read.body]).toEqual([200, 'hello']);
  });

  it('refuse pushes to the reader, whoever pushes', async () => {
    const path = '/v2/docker.io/library/x/blobs/uploads/';
    expect((await ask({ port: settings.ports.registry, method: 'POST', path })).status).toBe(405);
    expect((await ask({ port: settings.ports.registry, method: 'POST', path, login })).status).toBe(405);
  });

  it('refuse pushes without the right login', async () => {
    const path = '/v2/docker.io/library/x/blobs/uploads/';
    const port = settings.ports.registryPush;
    expect((await ask({ port, method: 'POST', path })).status).toBe(401);
    expect((await ask({ port, method: 'POST', path, login: 'bke:wrong' })).status).toBe(401);
  });

  it('listen for pushes on loopback only', async () => {
    const { execFileSync } = await import('node:child_process');
    const listening = execFileSync('ss', ['-Hltn'])
      .toString()
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[3] ?? '');
    expect(listening.filter((address) => address.endsWith(`:${settings.ports.registryPush}`))).toEqual([
      `127.0.0.1:${settings.ports.registryPush}`,
    ]);
  });

  it('open no other port for metrics or debugging', async () => {
    const { execFileSync } = await import('node:child_process');
    const pids = running.map((child) => `pid=${child.pid},`);
    const own = execFileSync('ss', ['-Hltnp'])
      .toString()
      .split('\n')
      .filter((line) => pids.some((pid) => line.includes(pid)));
    expect(own).toHaveLength(2);
  });
});
