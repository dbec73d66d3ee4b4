import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import {
  type AccessRecord,
  type FileServer,
  type FileServerOptions,
  startFileServer,
} from '../../../src/release/repository/server.ts';
import { openFileRepository } from '../../../src/release/repository/store.ts';
import { makeChart, temporaryFolder } from '../../fakes/release.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { freePort } from '../free-port.ts';
import { makeCertificates, stopChild, type TestCertificates } from './registry.ts';

const run = promisify(execFile);
const big = randomBytes(20_000_000);
let dir: string;
let certificates: TestCertificates;
let server: FileServer;
const records: AccessRecord[] = [];
const warnings: string[] = [];

async function start(more: Partial<FileServerOptions> = {}): Promise<FileServer> {
  return startFileServer({
    repository: await openFileRepository(join(dir, 'data')),
    address: '127.0.0.1',
    filesPort: 0,
    chartsPort: 0,
    tls: { certificate: certificates.certificateFile, key: certificates.keyFile },
    onAccess: (record) => records.push(record),
    onWarning: (message) => warnings.push(message),
    ...more,
  });
}

beforeAll(async () => {
  dir = await temporaryFolder();
  certificates = await makeCertificates(join(dir, 'tls'));
  server = await start();
  await mkdir(join(dir, 'data/files/k8s/v1'), { recursive: true });
  await writeFile(join(dir, 'data/files/k8s/v1/big'), big);
  await writeFile(join(dir, 'data/files/k8s/<odd> & "name"'), 'odd');
  await writeFile(join(dir, 'secret'), 'secret');
});
afterAll(async () => {
  await server.stop(0);
  await rm(dir, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

function ask(
  port: number,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string>; readonly localAddress?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, ca: certificates.ca, ...options }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

describe('the file server', () => {
  const etag = `"${digestOf(big)}"`;

  it('gives a file with its digest as ETag, its parts, and nothing where it is known already', async () => {
    const path = '/k8s/v1/big';
    const whole = await ask(server.filesPort, path);
    expect(whole).toMatchObject({
      status: 200,
      headers: { etag, 'content-length': String(big.length), 'accept-ranges': 'bytes' },
    });
    expect(whole.body.equals(big)).toBe(true);
    const part = await ask(server.filesPort, path, { headers: { range: 'bytes=1000000-' } });
    expect(part).toMatchObject({
      status: 206,
      headers: { 'content-range': `bytes 1000000-${big.length - 1}/${big.length}` },
    });
    expect(part.body.equals(big.subarray(1_000_000))).toBe(true);
    const other = await ask(server.filesPort, path, { headers: { range: 'bytes=1000000-', 'if-range': '"other"' } });
    expect(other.status).toBe(200);
    const known = await ask(server.filesPort, path, { headers: { 'if-none-match': etag } });
    expect(known).toMatchObject({ status: 304, body: Buffer.alloc(0) });
    const head = await ask(server.filesPort, path, { method: 'HEAD' });
    expect(head).toMatchObject({
      status: 200,
      headers: { etag, 'content-length': String(big.length) },
      body: Buffer.alloc(0),
    });
    const beyond = await ask(server.filesPort, path, { headers: { range: `bytes=${big.length}-` } });
    expect(beyond).toMatchObject({ status: 416, headers: { 'content-range': `bytes */${big.length}` } });
  });

  it('goes on for curl and wget where they were', async () => {
    const partial = join(dir, 'partial');
    const url = `https://127.0.0.1:${server.filesPort}/k8s/v1/big`;
    await writeFile(partial, big.subarray(0, 7_000_001));
    await run('curl', ['-sSf', '--cacert', certificates.caFile, '-C', '-', '-o', partial, url]);
    expect((await readFile(partial)).equals(big)).toBe(true);
  });

  it('lists folders for people and programs, and escapes what stands in names', async () => {
    expect(await ask(server.filesPort, '/k8s')).toMatchObject({ status: 301, headers: { location: '/k8s/' } });
    const html = (await ask(server.filesPort, '/k8s/')).body.toString();
    expect(html).toContain('<li><a href="v1/">v1/</a></li>');
    expect(html).toContain('<li><a href="%3Codd%3E%20%26%20%22name%22">&lt;odd&gt; &amp; &quot;name&quot;</a></li>');
    const json = await ask(server.filesPort, '/k8s/', { headers: { accept: 'application/json' } });
    expect(JSON.parse(json.body.toString())).toEqual({
      path: '/k8s/',
      entries: [
        { name: '<odd> & "name"', type: 'file' },
        { name: 'v1', type: 'directory' },
      ],
    });
    expect((await ask(server.filesPort, '/k8s/%3Codd%3E%20%26%20%22name%22')).body.toString()).toBe('odd');
  });

  it('leads nowhere else and changes nothing', async () => {
    for (const path of [
      '/../secret',
      '/..%2fsecret',
      '/%2e%2e/secret',
      '/k8s/../../secret',
      '//secret',
      '/.digests/',
      '/k8s/v1/big%00',
      '/k8s//v1/big',
    ]) {
      expect([path, (await ask(server.filesPort, path)).status]).toEqual([path, 404]);
    }
    expect((await ask(server.filesPort, '/%zz')).status).toBe(400);
    for (const method of ['PUT', 'POST', 'DELETE']) {
      expect(await ask(server.filesPort, '/k8s/v1/big', { method })).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD' },
      });
    }
    expect((await ask(server.filesPort, '/healthz')).body.toString()).toBe('ok\n');
  });

  it('tells each request once, with what was really sent', async () => {
    await ask(server.filesPort, '/k8s/v1/big?record', { headers: { range: 'bytes=0-9', 'user-agent': 'test' } });
    await expect
      .poll(() => records.find(({ path }) => path.endsWith('?record')))
      .toMatchObject({
        area: 'files',
        client: '127.0.0.1',
        method: 'GET',
        status: 206,
        bytes: 10,
        range: 'bytes=0-9',
        userAgent: 'test',
        complete: true,
      });
  });

  it('turns away more downloads than it may serve at once, and serves again afterwards', async () => {
    const narrow = await start({ maxStreams: 2 });
    try {
      const slow = [await openSlowly(narrow.filesPort, '127.0.0.1'), await openSlowly(narrow.filesPort, '127.0.0.2')];
      expect(await ask(narrow.filesPort, '/k8s/v1/big')).toMatchObject({
        status: 429,
        headers: { 'retry-after': '5' },
      });
      expect((await ask(narrow.filesPort, '/k8s/v1/big', { method: 'HEAD' })).status).toBe(200);
      expect((await ask(narrow.filesPort, '/healthz')).status).toBe(200);
      for (const close of slow) close();
      await expect.poll(async () => (await ask(narrow.filesPort, '/k8s/v1/big')).status).toBe(200);
      const gone = records.filter(({ complete, status }) => !complete && status === 200);
      expect(gone.length).toBeGreaterThanOrEqual(2);
      expect(gone.every(({ bytes }) => bytes < big.length)).toBe(true);
    } finally {
      await narrow.stop(0);
    }
  });

  it('leaves places for others, however many downloads one client begins', async () => {
    const narrow = await start({ maxStreams: 4 });
    try {
      const slow = [await openSlowly(narrow.filesPort), await openSlowly(narrow.filesPort)];
      expect((await ask(narrow.filesPort, '/k8s/v1/big')).status).toBe(429);
      expect((await ask(narrow.filesPort, '/k8s/v1/big', { localAddress: '127.0.0.2' })).status).toBe(200);
      for (const close of slow) close();
      await expect.poll(async () => (await ask(narrow.filesPort, '/k8s/v1/big')).status).toBe(200);
    } finally {
      await narrow.stop(0);
    }
  });

  it('ends a client that takes next to nothing, though it is never silent', async () => {
    const strict = await start({ slowest: { bytes: 1_000_000, withinMs: 1000 } });
    const curl = (rate: string): ChildProcess => {
      const url = `https://127.0.0.1:${strict.filesPort}/k8s/v1/big`;
      return spawn('curl', [
        '-sSf',
        '--cacert',
        certificates.caFile,
        '--limit-rate',
        rate,
        '-o',
        join(dir, 'slow'),
        url,
      ]);
    };
    const known = records.length;
    const patient = curl('8M');
    const crawling = curl('100K');
    try {
      const ended = (): unknown[] =>
        records.slice(known).map(({ complete, bytes }) => complete && bytes === big.length);
      await expect.poll(ended, { timeout: 20_000 }).toEqual(expect.arrayContaining([true, false]));
    } finally {
      await Promise.all([patient, crawling].map(stopChild));
      await strict.stop(0);
    }
  });

  it('ends a silent client, but not a slow one however long it takes', async () => {
    const impatient = await start({ idleTimeoutMs: 700 });
    try {
      const began = performance.now();
      const url = `https://127.0.0.1:${impatient.filesPort}/k8s/v1/big`;
      const { stdout } = await run('curl', [
        '-sSf',
        '--cacert',
        certificates.caFile,
        '--limit-rate',
        '8M',
        '-o',
        join(dir, 'slow'),
        '-w',
        '%{size_download}',
        url,
      ]);
      expect(stdout).toBe(String(big.length));
      expect(performance.now() - began).toBeGreaterThan(1400);
      const known = records.length;
      const close = await openSlowly(impatient.filesPort);
      await expect
        .poll(() => records.slice(known), { timeout: 5000 })
        .toMatchObject([{ complete: false, status: 200 }]);
      close();
    } finally {
      await impatient.stop(0);
    }
  });

  it('takes a new certificate without a restart, and keeps the old one where the new cannot be used', async () => {
    const own = await makeCertificates(join(dir, 'own'));
    const swapped = await start({ tls: { certificate: own.certificateFile, key: own.keyFile } });
    try {
      const before = await fingerprint(swapped.filesPort);
      await writeFile(own.certificateFile, 'broken');
      await swapped.reloadCertificates();
      expect(await fingerprint(swapped.filesPort)).toBe(before);
      expect(warnings.at(-1)).toMatch(
        /^the old certificate stays in use: cannot use certificate \S+tls\.crt with key \S+tls\.key: /,
      );
      const next = await makeCertificates(join(dir, 'next'));
      await copyFile(next.certificateFile, own.certificateFile);
      await copyFile(next.keyFile, own.keyFile);
      await swapped.reloadCertificates();
      expect(await fingerprint(swapped.chartsPort)).not.toBe(before);
    } finally {
      await swapped.stop(0);
    }
  });

  it('lets a running download finish when it is stopped', async () => {
    const ending = await start();
    const url = `https://127.0.0.1:${ending.filesPort}/k8s/v1/big`;
    const download = run('curl', [
      '-sSf',
      '--cacert',
      certificates.caFile,
      '--limit-rate',
      '20M',
      '-o',
      join(dir, 'last'),
      url,
    ]);
    await pause(300);
    await ending.stop(10_000);
    await download;
    expect((await readFile(join(dir, 'last'))).equals(big)).toBe(true);
    await expect(ask(ending.filesPort, '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

/** Asks for the big file, reads its head, then nothing more. Gives what ends it. */
function openSlowly(port: number, localAddress = '127.0.0.1'): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/k8s/v1/big', ca: certificates.ca, agent: false, localAddress };
    const outgoing = request(options, (response) => {
      response.pause();
      response.on('error', () => undefined);
      resolve(() => outgoing.destroy());
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function fingerprint(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('bke serve', () => {
  let child: ChildProcess | undefined;
  let said = '';
  afterAll(async () => {
    if (child !== undefined) await stopChild(child);
  });

  it('gives charts to Helm itself, whatever else lies among them', async () => {
    const helm = (await buildComponent('helm')).program('helm');
    const [filePort, chartPort] = [await freePort(), await freePort()];
    const data = join(dir, 'charts-data');
    await mkdir(join(data, 'charts'), { recursive: true });
    const chart = (name: string, version: string) =>
      makeChart(`apiVersion: v2\nname: ${name}\nversion: ${version}\n`, name);
    await writeFile(join(data, 'charts/a-1.0.0-12.tgz'), await chart('a', '1.0.0-12'));
    await writeFile(join(data, 'charts/misnamed.tgz'), await chart('a-b', '1.0.0+x'));
    await writeFile(join(data, 'charts/odd.tgz'), await chart('odd', '1.0.0-0123'));
    await writeFile(join(data, 'charts/half.tgz'), (await chart('half', '1.0.0')).subarray(0, 100));
    child = spawn(
      process.execPath,
      [
        'bin/bke.ts',
        'serve',
        '--data-dir',
        data,
        '--address',
        '127.0.0.1',
        '--file-port',
        String(filePort),
        '--chart-port',
        String(chartPort),
        '--tls-cert',
        certificates.certificateFile,
        '--tls-key',
        certificates.keyFile,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    let log = '';
    child.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    await expect.poll(() => log, { timeout: 10_000 }).toContain('"msg":"listening"');
    const home = join(dir, 'helm');
    const env = { ...process.env, HELM_CONFIG_HOME: home, HELM_CACHE_HOME: home, HELM_DATA_HOME: home };
    const url = `https://127.0.0.1:${chartPort}`;
    await run(helm, ['repo', 'add', 'site', url, '--ca-file', certificates.caFile], { env });
    const search = await run(helm, ['search', 'repo', 'site/', '--devel', '-o', 'json'], { env });
    expect(
      z
        .array(z.object({ name: z.string(), version: z.string() }))
        .parse(JSON.parse(search.stdout))
        .map(({ name, version }) => `${name} ${version}`),
    ).toEqual(['site/a 1.0.0-12', 'site/a-b 1.0.0+x']);
    await run(helm, ['pull', 'site/a-b', '--version', '1.0.0+x', '-d', dir], { env });
    await writeFile(join(data, 'charts/late.tgz'), await chart('late', '2.0.0'));
    await run(helm, ['repo', 'update'], { env });
    await run(helm, ['pull', 'site/late', '-d', dir], { env });
    expect((await ask(chartPort, '/charts/index.yaml')).body.toString()).toContain('- late.tgz');
    const listing: unknown = JSON.parse(
      (await ask(chartPort, '/charts/', { headers: { accept: 'application/json' } })).body.toString(),
    );
    expect(listing).toMatchObject({ bad: [{ file: 'half.tgz' }, { file: 'odd.tgz' }] });
    const lines = log
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'request', path: '/index.yaml', status: 200 }));
  });

  it('ends with 0 and without a word to people when it is told to stop', async () => {
    const ended = new Promise((resolve) => child?.once('exit', (code, signal) => resolve(code ?? signal)));
    child?.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said).toBe('');
  });
});
