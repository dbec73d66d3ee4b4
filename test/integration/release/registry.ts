// The CNCF Distribution registry of the test bed as a process of its own: TLS, login, its own store.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hash } from 'bcryptjs';
import { createCaCertificate, generateKey, issueServingCertificate } from '../../../src/lib/x509.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/release/oci/registry-client.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { freePort } from '../free-port.ts';

export interface TestCertificates {
  /** PEM */
  readonly ca: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

export async function makeCertificates(dir: string): Promise<TestCertificates> {
  await mkdir(dir, { recursive: true });
  const now = new Date();
  const caKey = generateKey();
  const ca = await createCaCertificate(caKey, { commonName: 'test CA', now, days: 2 });
  const pair = await issueServingCertificate(
    { certificate: ca, key: caKey },
    { commonName: 'test', names: ['localhost', '127.0.0.1'], now, days: 1 },
  );
  const files = { caFile: join(dir, 'ca.crt'), certificateFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') };
  await writeFile(files.caFile, ca);
  await writeFile(files.certificateFile, pair.certificate);
  await writeFile(files.keyFile, pair.key, { mode: 0o600 });
  return { ca, ...files };
}

export interface TestRegistry {
  readonly port: number;
  readonly url: string;
  readonly store: string;
  readonly certificates: TestCertificates;
  readonly username: string;
  readonly password: string;
  client(): RegistryClient;
  log(): string;
  stop(): Promise<void>;
}

export interface RegistryOptions {
  /** Default: a folder of its own. */
  readonly store?: string;
  /** false: anyone may do anything. */
  readonly login?: boolean;
}

/** @param dir made where it is missing. */
export async function startRegistry(dir: string, options: RegistryOptions = {}): Promise<TestRegistry> {
  const store = options.store ?? join(dir, 'store');
  await mkdir(dir, { recursive: true });
  const build = await buildComponent('registry');
  const certificates = await makeCertificates(join(dir, 'tls'));
  const port = await freePort();
  const [username, password] = ['pusher', 'correct horse'];
  await writeFile(join(dir, 'htpasswd'), `${username}:${await hash(password, 4)}\n`);
  await mkdir(store, { recursive: true });
  const config = join(dir, 'registry.yaml');
  await writeFile(
    config,
    JSON.stringify({
      version: '0.1',
      log: { level: 'warn', accesslog: { disabled: false } },
      storage: { filesystem: { rootdirectory: store }, delete: { enabled: true } },
      http: {
        addr: `127.0.0.1:${port}`,
        // Bounds the stop of the tests, not what they test.
        draintimeout: '1s',
        tls: { certificate: certificates.certificateFile, key: certificates.keyFile, minimumtls: 'tls1.2' },
      },
      ...(options.login === false ? {} : { auth: { htpasswd: { realm: 'test', path: join(dir, 'htpasswd') } } }),
      health: { storagedriver: { enabled: false } },
    }),
  );
  const child = spawn(build.program('registry'), ['serve', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await answers(port, child);
  const url = `https://127.0.0.1:${port}`;
  return {
    port,
    url,
    store,
    certificates,
    username,
    password,
    client: () => createRegistryClient({ url, ca: [certificates.ca], username, password, idleTimeoutMs: 5000 }),
    log: () => log,
    stop: () => stopChild(child),
  };
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const forced = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(forced);
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  for (let i = 0; i < 100; i += 1) {
    if (child.exitCode !== null) throw new Error('the registry ended at once');
    if (await canConnect(port)) return;
    await pause(50);
  }
  throw new Error(`the registry does not answer on port ${port} after 5 s`);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

export interface CuttingProxy {
  readonly port: number;
  /** Connections that were cut so far. */
  cuts(): number;
  stop(): Promise<void>;
}

/** A TCP relay that breaks a connection after so many bytes to the server (`up`) or from it (`down`); the later ones pass once the list is used up. */
export async function startCuttingProxy(
  target: number,
  cuts: readonly { readonly up?: number; readonly down?: number }[],
): Promise<CuttingProxy> {
  const left = [...cuts];
  const sockets = new Set<Socket>();
  let cut = 0;
  const server: Server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    relay(client, upstream, 'up');
    relay(upstream, client, 'down');
  });
  function relay(from: Socket, to: Socket, direction: 'up' | 'down'): void {
    let seen = 0;
    from.on('data', (chunk: Buffer) => {
      seen += chunk.length;
      const limit = left[0]?.[direction];
      if (limit !== undefined && seen >= limit) {
        left.shift();
        cut += 1;
        from.removeAllListeners('data');
        // What came before must have arrived: a cut in mid-transfer, not before it.
        to.end(chunk, () => from.resetAndDestroy());
        return;
      }
      if (!to.write(chunk)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    });
    from.on('end', () => to.end());
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    cuts: () => cut,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
