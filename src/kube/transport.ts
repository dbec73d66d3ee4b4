// One HTTPS exchange with whichever API server answers: several addresses in turn, certificates checked, everything bounded, faults named.
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { BkeError } from '../lib/errors.ts';
import { certificateFault, isNoTls, networkFault } from '../lib/network-fault.ts';
import { toError } from '../lib/thrown.ts';
import { tlsTrust } from '../lib/tls-trust.ts';
import type { KubeConnection } from './connection.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer | undefined;
  /** Asked when the connection stands and nothing was sent yet; what it throws is thrown, and nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
  /** Ends the exchange, also while its answer is read. */
  readonly signal: AbortSignal;
}

/** How long a server may take until it has taken the connection: an address that leads nowhere must leave time for the next one. */
const connectTimeoutMs = 5000;
/** Unused connections are closed before the API server does it (90 s), so that no request meets one that is just closing. */
const idleSocketMs = 45_000;

/** The connection failed before or while the server answered. */
class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  /** false: the server can't have got the request. */
  readonly sent: boolean;
  /** It was a kept connection, which the server may have closed meanwhile. */
  readonly reused: boolean;

  constructor(cause: Error, host: string, outgoing: ClientRequest & { readonly connected: boolean }) {
    super(`${host}: ${faultWords(cause, host)}`, { cause });
    this.sent = outgoing.connected || outgoing.reusedSocket;
    this.reused = outgoing.reusedSocket;
  }
}

export class Transport {
  readonly #agent: Agent;
  readonly #servers: readonly URL[];
  /** Index of the server that answered last. */
  #current = 0;

  constructor({ servers, ca, serverName, credential }: KubeConnection) {
    this.#servers = servers.map((server) => new URL(server));
    this.#agent = new Agent({
      keepAlive: true,
      timeout: idleSocketMs,
      ...tlsTrust(ca),
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(credential.type === 'certificate' ? { cert: credential.certificate, key: credential.key } : {}),
    });
  }

  /**
   * The answer's head has come; its body is still to be read.
   * @throws BkeError BKE_KUBE_UNREACHABLE; the signal's reason once it is aborted
   */
  async send(call: Call): Promise<IncomingMessage> {
    const faults: string[] = [];
    for (let turn = 0; turn < this.#servers.length; turn += 1) {
      const index = (this.#current + turn) % this.#servers.length;
      const server = this.#servers[index];
      if (server === undefined) break;
      try {
        const answer = await this.#ask(server, call);
        this.#current = index;
        return answer;
      } catch (thrown) {
        // One that took the request and never answered must not be the first again.
        if (call.signal.aborted) this.#current = (index + 1) % this.#servers.length;
        call.signal.throwIfAborted();
        if (thrown instanceof BkeError) throw thrown;
        const fault = toError(thrown);
        faults.push(fault.message);
        // Nobody knows whether the server has done it: only what may be done twice goes to the next one.
        if (fault instanceof ConnectionFault && fault.sent && call.method === 'POST') break;
      }
    }
    throw unreachable(faults);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #ask(server: URL, call: Call): Promise<IncomingMessage> {
    try {
      return await exchange(server, call, this.#agent);
    } catch (thrown) {
      call.signal.throwIfAborted();
      const again = thrown instanceof ConnectionFault && thrown.reused && call.method !== 'POST';
      if (!again) throw thrown;
      return exchange(server, call, this.#agent);
    }
  }
}

function exchange(server: URL, call: Call, agent: Agent): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, headers, signal, beforeSend, body } = call;
  const url = new URL(`${server.pathname.replace(/\/$/, '')}${call.path}`, server);
  const outgoing = Object.assign(request(url, { method, headers, signal, agent }), { connected: false });
  // Not before: what is queued on a connection that comes to be goes out whenever that is.
  const send = (): void => {
    try {
      beforeSend?.();
      outgoing.end(body);
    } catch (thrown) {
      reject(thrown);
      outgoing.destroy();
    }
  };
  outgoing.on('socket', (socket) => {
    if (outgoing.reusedSocket) {
      send();
      return;
    }
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${connectTimeoutMs / 1000} s`)),
      connectTimeoutMs,
    );
    socket.once('secureConnect', () => {
      outgoing.connected = true;
      clearTimeout(timer);
      send();
    });
    socket.once('close', () => clearTimeout(timer));
  });
  outgoing.on('response', resolve);
  outgoing.on('error', (error) => reject(new ConnectionFault(error, server.host, outgoing)));
  return promise;
}

/** @param faults what each server that was tried said */
export function unreachable(faults: readonly string[], cause?: unknown): BkeError {
  return new BkeError('BKE_KUBE_UNREACHABLE', `no API server answers: ${faults.join('; ')}`, {
    hint: 'Look whether the API server runs and whether this machine can reach its address.',
    cause,
  });
}

/** The reason only: what a request carried is in none of these messages. */
function faultWords(error: Error, host: string): string {
  const certificate = certificateFault(error);
  if (certificate !== undefined) return certificate;
  if (isNoTls(error)) return 'it does not speak TLS, or refuses the certificate that bke shows';
  return networkFault(error, host) ?? error.message;
}
