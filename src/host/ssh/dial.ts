// One attempt to log in to a host: TCP (or a bastion's forwarding), host key check, credentials. Errors here are the true cause, as a BkeError.
import { type Socket, connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CipherAlgorithm, Client, type ServerHostKeyAlgorithm } from 'ssh2';
import { isExampleAddress } from '../../lib/address.ts';
import { BkeError } from '../../lib/errors.ts';
import { errorField, toError } from '../../lib/thrown.ts';
import type { Login } from './auth.ts';
import { hostKeyError } from './host-key-error.ts';
import { type HostTrust, hostKeyOf } from './host-trust.ts';
import { lastLines } from '../../lib/text.ts';
import { type HostKey, type SshOptions, type SshTarget, placeOf } from './target.ts';

/** Somebody may use such a network all the same, and then it answers at once. */
const exampleMs = 2000;

/** GCM first: with AES instructions it streams nearly twice as fast as chacha20. */
const ciphers: CipherAlgorithm[] = [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'aes128-ctr',
  'aes192-ctr',
  'aes256-ctr',
  'chacha20-poly1305@openssh.com',
];

/** Algorithms by the type of the key they prove; strongest first, SHA-1 left out. */
const hostKeyAlgorithms: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
};

export interface DialRequest {
  readonly target: SshTarget;
  readonly trust: HostTrust;
  readonly credentials: Login;
  readonly options: SshOptions;
  readonly timeoutMs: number;
  /** Types of host keys not to ask for (they were seen and do not match). */
  readonly withoutTypes: ReadonlySet<string>;
  /** Through a bastion, where there is one. */
  readonly openStream?: (() => Promise<Duplex>) | undefined;
}

export interface Dialled {
  readonly client: Client;
  readonly hostKey: HostKey;
  /** The key was not known before and `acceptNew` took it. */
  readonly newKey: boolean;
}

/** A network fault: worth another attempt. */
export class NetworkFault extends Error {
  override readonly name = 'NetworkFault';
}

/** The key shown does not match a known fingerprint, but the host may have the right one of another type. */
export class OtherHostKey extends Error {
  override readonly name = 'OtherHostKey';
  readonly error: BkeError;
  readonly type: string;

  constructor(error: BkeError, type: string) {
    super(error.message);
    this.error = error;
    this.type = type;
  }
}

/** @throws NetworkFault, OtherHostKey, or a final BkeError. */
export async function dial(request: DialRequest): Promise<Dialled> {
  const attempt = new Attempt(request);
  return attempt.run();
}

class Attempt {
  readonly #request: DialRequest;
  readonly #login: Login;
  readonly #client = new Client();
  readonly #done = Promise.withResolvers<Dialled>();
  #timer: NodeJS.Timeout | undefined;
  #stage = 'connecting';
  /** The first bytes the other side sent. */
  #greeting = '';
  #hostKey: HostKey | undefined;
  #newKey = false;
  /** A bastion may answer after the time was up. */
  #over = false;

  constructor(request: DialRequest) {
    this.#request = request;
    this.#login = request.credentials.again((refusal) => this.#fail(refusal));
  }

  async run(): Promise<Dialled> {
    const { signal } = this.#request.options;
    const onAbort = (): void => this.#fail(cancelled(this.#request.target, signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#armTimer();
    try {
      if (signal?.aborted === true) throw cancelled(this.#request.target, signal);
      void this.#begin();
      return await this.#done.promise;
    } catch (error) {
      this.#client.destroy();
      throw error;
    } finally {
      this.#over = true;
      clearTimeout(this.#timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #begin(): Promise<void> {
    const { target, options } = this.#request;
    try {
      const sock = await this.#openStream();
      if (this.#over) {
        sock.destroy();
        return;
      }
      this.#stage = 'agreeing on keys';
      if (isExampleAddress(target.address)) this.#armTimer();
      this.#listen();
      this.#client.connect({
        sock,
        username: target.user,
        ident: 'bke',
        readyTimeout: 0,
        keepaliveInterval: options.keepaliveMs ?? 10_000,
        keepaliveCountMax: 3,
        algorithms: { cipher: ciphers, serverHostKey: this.#hostKeyAlgorithms() },
        hostVerifier: (blob: Buffer, verify: (trusted: boolean) => void) => void this.#verify(blob, verify),
        authHandler: (...next) => {
          this.#stage = 'logging in';
          this.#login.handler(...next);
        },
      });
      // After connect() has paused the stream, so that this listener only looks on.
      sock.on('data', (chunk: Buffer) => {
        if (this.#greeting.length < 200) this.#greeting += chunk.toString('latin1', 0, 200);
      });
    } catch (error) {
      this.#fail(toError(error));
    }
  }

  #hostKeyAlgorithms(): ServerHostKeyAlgorithm[] {
    const { trust, withoutTypes } = this.#request;
    const types = [...new Set([...trust.types, ...Object.keys(hostKeyAlgorithms)])];
    return types.filter((type) => !withoutTypes.has(type)).flatMap((type) => hostKeyAlgorithms[type] ?? []);
  }

  async #openStream(): Promise<Duplex> {
    const { openStream, target } = this.#request;
    if (openStream !== undefined) return openStream();
    const socket = connectTcp({ host: target.address, port: target.port, noDelay: true, keepAlive: true });
    void this.#done.promise.catch(() => socket.destroy());
    await connected(socket);
    return socket;
  }

  #listen(): void {
    this.#client.on('ready', () => this.#ready());
    this.#client.on('error', (error) => {
      // The agent could not sign with one key: the next one or the password may do.
      if (errorField(error, 'level') === 'agent') this.#login.noteAgent(error);
      else this.#fail(this.#explain(error));
    });
    this.#client.on('close', () => this.#fail(this.#explain(new Error('the host closed the connection'))));
    this.#client.on('change password', () => {
      this.#fail(this.#login.failure(new Error('the password has expired and must be changed first')));
    });
  }

  #ready(): void {
    if (this.#hostKey === undefined) this.#fail(new Error('logged in without a host key'));
    else this.#done.resolve({ client: this.#client, hostKey: this.#hostKey, newKey: this.#newKey });
  }

  /** Also called when keys are renewed later on: then the key must be the same one. */
  async #verify(blob: Buffer, verify: (trusted: boolean) => void): Promise<void> {
    if (this.#hostKey !== undefined) {
      verify(this.#hostKey.blob.equals(blob));
      return;
    }
    const { target, trust } = this.#request;
    const key = hostKeyOf(blob);
    const verdict = trust.judge(key);
    const trusted = verdict.kind === 'known' || (verdict.kind === 'unknown' && (await this.#acceptNew(key)));
    if (trusted) this.#hostKey = key;
    else {
      const error = hostKeyError(target, key, verdict);
      this.#fail(verdict.kind === 'changed' && trust.typeUnknown ? new OtherHostKey(error, key.type) : error);
    }
    verify(trusted);
  }

  async #acceptNew(key: HostKey): Promise<boolean> {
    const { options, target } = this.#request;
    const { acceptNew } = options;
    if (typeof acceptNew !== 'function') {
      this.#newKey = acceptNew === true;
      return this.#newKey;
    }
    // A person takes longer than a handshake; sshd's own patience (LoginGraceTime, 2 minutes) is the bound then.
    clearTimeout(this.#timer);
    this.#newKey = await acceptNew(target, key).catch(() => false);
    this.#armTimer();
    return this.#newKey;
  }

  #armTimer(): void {
    const { target } = this.#request;
    const hasAnswered = this.#stage !== 'connecting';
    const bound = isExampleAddress(target.address) && !hasAnswered ? exampleMs : Number.POSITIVE_INFINITY;
    const timeoutMs = Math.min(this.#request.timeoutMs, bound);
    clearTimeout(this.#timer);
    const through = target.bastion === undefined ? '' : ` through ${target.bastion.name}`;
    this.#timer = setTimeout(() => {
      this.#fail(
        this.#explain(
          new Error(
            `no answer from ${target.address} port ${target.port}${through} within ${Math.round(timeoutMs / 100) / 10} s while ${this.#stage}`,
          ),
        ),
      );
    }, timeoutMs);
  }

  /** What the library reports, as what it means. The first cause wins: what follows is only the connection going down. */
  #explain(error: Error): Error {
    const login = this.#login;
    const level = errorField(error, 'level');
    if (level === 'client-authentication') return login.failure(error);
    // A number is the reason of a disconnect message: the server itself said why.
    const said = typeof errorField(error, 'code') === 'number';
    if (this.#stage === 'logging in') {
      if (said || login.credentialSent) return login.failure(error);
      return new NetworkFault(error.message, { cause: error });
    }
    return this.#explainHandshake(error, said || (level === 'handshake' && this.#stage === 'agreeing on keys'));
  }

  #explainHandshake(error: Error, final: boolean): Error {
    const { target } = this.#request;
    const [greeting = ''] = lastLines(this.#greeting.split('\n', 1).join(''), 1);
    const stranger = greeting !== '' && !/^SSH-/m.test(this.#greeting);
    // What sshd says when it turns a connection away is worth another attempt.
    if (stranger && /MaxStartups|Not allowed at this time/.test(greeting)) {
      return new NetworkFault(`sshd turns connections away (${greeting})`, { cause: error });
    }
    if (!final && !stranger) return new NetworkFault(error.message, { cause: error });
    const what = stranger ? `what answers there is no SSH server, it says: ${greeting}` : error.message;
    return new BkeError('BKE_SSH_PROTOCOL', `no SSH session with ${target.name} (${placeOf(target)}): ${what}`, {
      host: target.name,
      hint: `Look at it with: ssh -v -p ${target.port} ${target.user}@${target.address}`,
      cause: error,
    });
  }

  #fail(error: Error): void {
    this.#done.reject(error);
  }
}

export function cancelled(target: SshTarget, signal: AbortSignal | undefined): BkeError {
  return new BkeError('BKE_CANCELLED', `cancelled while connecting to ${target.name}`, {
    host: target.name,
    cause: signal?.reason,
  });
}

/** @throws NetworkFault with the first cause where several addresses of one name were tried. */
async function connected(socket: Socket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (error: NodeJS.ErrnoException & { errors?: Error[] }) => {
      reject(new NetworkFault(error.errors?.[0]?.message ?? error.message, { cause: error }));
    });
    socket.once('close', () => reject(new NetworkFault('the connection was closed')));
  });
}
