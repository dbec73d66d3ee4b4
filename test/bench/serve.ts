// Downloads of one 256 MB file over TLS, 1, 8 and 32 at once, from bke serve and from nginx in turn, in one run.
// Bar: at least 0.45 times nginx, at a resident size of at most 200 MiB. Needs nginx (Debian: nginx-light) and curl.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { freePort } from '../integration/free-port.ts';
import { makeCertificates, stopChild, type TestCertificates } from '../integration/release/registry.ts';
import { judge } from './judge.ts';
import { median } from './pairs.ts';

const bar = 0.45;
const rssBarMiB = 200;
const megabytes = 256;
const runs = 3;

const dir = await mkdtemp(join(tmpdir(), 'bke-bench-'));
const children: ChildProcess[] = [];
try {
  await bench();
} finally {
  await Promise.all(children.map(stopChild));
  await rm(dir, { recursive: true });
}

async function bench(): Promise<void> {
  const certificates = await makeCertificates(join(dir, 'tls'));
  await mkdir(join(dir, 'data/files'), { recursive: true });
  await mkdir(join(dir, 'data/charts'), { recursive: true });
  await makeFile(join(dir, 'data/files/file'));
  const bke = await startBke(certificates);
  const nginx = await startNginx(certificates);
  for (const parallel of [1, 8, 32]) {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      ours.push(await download(bke.port, parallel, certificates));
      theirs.push(await download(nginx.port, parallel, certificates));
    }
    const ratio = median(ours.map((rate, i) => rate / (theirs[i] ?? Number.NaN)));
    const rates = `bke ${gibps(median(ours))}, nginx ${gibps(median(theirs))}`;
    judge(`${String(parallel).padStart(2)} at once: ${rates}, ratio`, ratio, { atLeast: bar });
  }
  const rss = await peakRss(bke.child);
  judge('bke serve at its largest, resident', rss, { atMost: rssBarMiB }, ' MiB');
}

function gibps(bytesPerSecond: number): string {
  return `${(bytesPerSecond / 1024 ** 3).toFixed(2)} GiB/s`;
}

async function makeFile(path: string): Promise<void> {
  const file = await open(path, 'w');
  const chunk = Buffer.alloc(1024 * 1024);
  for (let i = 0; i < megabytes; i += 1) await file.write(randomFillSync(chunk));
  await file.close();
}

interface Running {
  readonly port: number;
  readonly child: ChildProcess;
}

/** The built binary where there is one, else from source. */
async function startBke(certificates: TestCertificates): Promise<Running> {
  const port = await freePort();
  const built = fileURLToPath(new URL('../../dist/bke-linux-amd64', import.meta.url));
  const source = [process.execPath, fileURLToPath(new URL('../../bin/bke.ts', import.meta.url))];
  const [program = '', ...first] =
    existsSync(built) && process.env['BKE_BENCH_SOURCE'] === undefined ? [built] : source;
  const places = ['--data-dir', join(dir, 'data'), '--address', '127.0.0.1'];
  const ports = ['--file-port', String(port), '--chart-port', String(await freePort())];
  const tls = ['--tls-cert', certificates.certificateFile, '--tls-key', certificates.keyFile];
  return start(program, [...first, 'serve', ...places, ...ports, ...tls], port);
}

async function startNginx(certificates: TestCertificates): Promise<Running> {
  const port = await freePort();
  const config = join(dir, 'nginx.conf');
  const lines = [
    'daemon off; worker_processes auto; error_log stderr error;',
    `pid ${join(dir, 'nginx.pid')};`,
    'events { worker_connections 1024; }',
    `http { access_log off; sendfile on; tcp_nopush on; client_body_temp_path ${join(dir, 'body')};`,
    `server { listen 127.0.0.1:${port} ssl; root ${join(dir, 'data/files')};`,
    `ssl_certificate ${certificates.certificateFile}; ssl_certificate_key ${certificates.keyFile};`,
    'ssl_protocols TLSv1.2 TLSv1.3; } }',
  ];
  await writeFile(config, lines.join('\n'));
  // Its workers may run as another user, who must get at the files.
  await execa('chmod', ['755', dir]);
  return start('nginx', ['-p', dir, '-c', config], port);
}

async function start(program: string, args: readonly string[], port: number): Promise<Running> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  for (let i = 0; i < 100; i += 1) {
    const probe = await execa('curl', ['-sk', '-o', '/dev/null', '-r', '0-0', `https://127.0.0.1:${port}/file`], {
      reject: false,
    });
    if (probe.exitCode === 0) return { port, child };
    await pause(100);
  }
  throw new Error(`${program} does not answer`);
}

/** Bytes per second of all together. */
async function download(port: number, parallel: number, { caFile }: TestCertificates): Promise<number> {
  const began = performance.now();
  const url = `https://127.0.0.1:${port}/file`;
  const curl = () => execa('curl', ['-sSf', '--cacert', caFile, '-o', '/dev/null', url]);
  await Promise.all(Array.from({ length: parallel }, curl));
  return (parallel * megabytes * 1024 * 1024 * 1000) / (performance.now() - began);
}

async function peakRss({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024);
}
