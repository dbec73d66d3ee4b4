// An SSH server in this process that can misbehave in ways a real sshd can't be told to. Programs really run, as the user of the test.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { type AuthContext, type Connection, Server, type ServerChannel, type Session } from 'ssh2';
import type { SshTarget } from '../../src/host/ssh/target.ts';

export interface FakeSshOptions {
  /** What each login attempt is answered; default: everybody may in. */
  readonly authenticate?: (context: AuthContext) => void;
  /** Asked before each channel; false refuses it as sshd does over MaxSessions. */
  readonly acceptSession?: (open: number) => boolean;
  /** A bastion: what becomes of a connection that is to be forwarded; default: refused. */
  readonly forward?: () => void;
  /** Default: runs the line with /bin/sh, as sshd does with a login shell. */
  readonly exec?: (channel: ServerChannel, command: string) => void;
}

const hostKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();

export class FakeSshServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #sockets = new Set<Socket>();
  /** Connections that got as far as a login. */
  logins = 0;
  /** Login attempts by method, in order. */
  readonly attempts: string[] = [];
  sessions = 0;
  mostSessions = 0;

  private constructor(options: FakeSshOptions) {
    this.#server = new Server({ hostKeys: [hostKey] }, (connection) => this.#serve(connection, options));
    // The library keeps the server's sockets to itself; they are needed to cut and to freeze connections.
    Reflect.get(this.#server, '_srv').prependListener('connection', (socket: Socket) => this.#sockets.add(socket));
  }

  static async start(options: FakeSshOptions = {}): Promise<FakeSshServer> {
    const fake = new FakeSshServer(options);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', () => resolve()));
    return fake;
  }

  get port(): number {
    // oxlint-disable-next-line no-unsafe-type-assertion -- it listens on TCP
    return (this.#server.address() as AddressInfo).port;
  }

  target(changes: Partial<SshTarget> = {}): SshTarget {
    return {
      name: 'w1',
      address: '127.0.0.1',
      port: this.port,
      user: 'root',
      auth: { password: 'CANARY-7391' },
      hostKeys: [],
      knownHostsFiles: [],
      ...changes,
    };
  }

  /** As if the cable was pulled: the connection stays, nothing comes through any more. */
  freeze(): void {
    for (const socket of this.#sockets) {
      socket.pause();
      socket.write = () => true;
    }
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(connection: Connection, options: FakeSshOptions): void {
    this.#connections.add(connection);
    connection.on('error', () => undefined);
    connection.on('authentication', (context) => {
      this.attempts.push(context.method);
      if (options.authenticate === undefined) context.accept();
      else options.authenticate(context);
    });
    connection.on('ready', () => {
      this.logins += 1;
      connection.on('tcpip', (_accept, reject) => (options.forward ?? reject)());
      connection.on('session', (accept, reject) => {
        if (options.acceptSession?.(this.sessions) === false) reject();
        else this.#session(accept(), options);
      });
    });
  }

  #session(session: Session, options: FakeSshOptions): void {
    this.sessions += 1;
    this.mostSessions = Math.max(this.mostSessions, this.sessions);
    session.once('close', () => {
      this.sessions -= 1;
    });
    session.on('exec', (accept, _reject, { command }) => {
      const channel = accept();
      channel.on('error', () => undefined);
      (options.exec ?? runLocally)(channel, command);
    });
  }
}

function runLocally(channel: ServerChannel, command: string): void {
  const child = spawn('/bin/sh', ['-c', command], { stdio: 'pipe', detached: true });
  child.stdin.on('error', () => undefined);
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  child.once('close', (code, signal) => {
    if (code === null) channel.exit(String(signal).replace('SIG', ''));
    else channel.exit(code);
    channel.end();
  });
}
