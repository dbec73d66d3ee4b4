// A release server over HTTPS in this process, programs that stand in for bke, and download.sh run as a user pipes it into a shell.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const script = readFileSync(join(import.meta.dirname, '../../../scripts/download.sh'), 'utf8');

const allShells: readonly (readonly [string, ...string[]])[] = [['bash'], ['dash'], ['busybox', 'sh']];
/** Those that are here. */
export const shells = allShells.filter(([program]) => findProgram(program) !== undefined);

export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** A shell script that answers as `bke version` does. @param body runs for anything else. */
export function fakeBke(version: string, body = 'exit 0'): string {
  return `#!/bin/sh\nif [ "$1" = version ]; then echo 'bke ${version} (linux/amd64, node 24.0.0)'; exit; fi\n${body}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export interface RunOptions {
  readonly shell?: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly text?: string;
  readonly user?: number;
  /** ms after which it is killed, hard. */
  readonly killAfter?: number;
}

export interface RunResult {
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** Where downloads are tried: a server with releases, a folder for the program, a PATH that tests can change. */
export class DownloadBench implements AsyncDisposable {
  readonly directory: string;
  readonly target: string;
  readonly ca: string;
  /** Path on the server -> text. */
  readonly served = new Map<string, string>();
  readonly requests: string[] = [];
  /** Bytes between two pauses of 10 ms, where answers are to be slow. */
  slow = 0;
  readonly #server: Server;

  private constructor(directory: string, server: Server) {
    this.directory = directory;
    this.target = join(directory, 'bin');
    this.ca = join(directory, 'ca.crt');
    this.#server = server;
  }

  static async start(): Promise<DownloadBench> {
    const directory = mkdtempSync(join(tmpdir(), 'bke-download-'));
    chmodSync(directory, 0o755);
    const [key, certificate] = [join(directory, 'key'), join(directory, 'ca.crt')];
    const names = ['-subj', '/CN=releases', '-addext', 'subjectAltName=DNS:localhost'];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2'];
    execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', certificate, ...names], { stdio: 'pipe' });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) });
    const bench = new DownloadBench(directory, server);
    server.on('request', (request, response) => {
      const path = (request.url ?? '').slice(1);
      bench.requests.push(path);
      const text = bench.served.get(path);
      response.writeHead(text === undefined ? 404 : 200, { 'content-length': Buffer.byteLength(text ?? '') });
      if (bench.slow > 0 && text !== undefined) trickle(text, bench.slow, response);
      else response.end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    bench.release('0.1.0', { amd64: fakeBke('0.1.0'), arm64: fakeBke('0.1.0', 'echo arm') });
    return bench;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `https://localhost:${address.port}`;
  }

  release(version: string, programs: Readonly<Record<string, string>>): void {
    const lines = Object.entries(programs).map(([arch, text]) => {
      this.served.set(`v${version}/bke-linux-${arch}`, text);
      return `${sha256(text)}  bke-linux-${arch}\n`;
    });
    this.served.set(`v${version}/sha256sums.txt`, lines.join(''));
    this.served.set('latest', `v${version}\n`);
  }

  /** A PATH of these programs alone, and those given as text. */
  programs(name: string, links: readonly string[], own: Readonly<Record<string, string>> = {}): string {
    const folder = join(this.directory, name);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    for (const program of links) {
      const path = findProgram(program);
      if (path !== undefined) symlinkSync(path, join(folder, program));
    }
    for (const [program, text] of Object.entries(own)) writeFileSync(join(folder, program), text, { mode: 0o755 });
    return folder;
  }

  /** Ends with what it printed; a path in front of the ordinary ones is `env.PATH`. */
  async run({ shell = ['bash'], env = {}, text = script, user, killAfter }: RunOptions = {}): Promise<RunResult> {
    const [program, ...args] = shell;
    const given = {
      PATH: `${this.target}:${process.env['PATH'] ?? ''}`,
      HOME: this.directory,
      BKE_DOWNLOAD_URL: this.url,
      BKE_CA_FILE: this.ca,
      BKE_INSTALL_DIR: this.target,
      ...env,
    };
    const child = spawn(findProgram(program) ?? program, args, {
      env: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
      ...(user === undefined ? {} : { uid: user, gid: user }),
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
    const timer =
      killAfter === undefined ? undefined : setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), killAfter);
    const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
    clearTimeout(timer);
    return { exitCode, stderr };
  }

  /** Names in the folder of the program. */
  left(folder = this.target): string[] {
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  text(name = 'bke'): string {
    return readFileSync(join(this.target, name), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

interface Sink {
  write(text: string): boolean;
  end(): unknown;
}

function trickle(text: string, bytes: number, sink: Sink): void {
  let at = 0;
  const timer = setInterval(() => {
    sink.write(text.slice(at, at + bytes));
    at += bytes;
    if (at < text.length) return;
    clearInterval(timer);
    sink.end();
  }, 10);
}
