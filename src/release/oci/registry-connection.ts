// The conversation with one registry: login, redirects, trying again, and errors with the registry's own words.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Agent } from 'node:https';
import type { Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { retry } from '../../lib/retry.ts';
import { createAgent, discard, exchange, NetworkError, readBody } from './http.ts';
import { type Credentials, parseChallenge, RegistryLogin } from './registry-auth.ts';
import { refusalError, unreachable } from './registry-errors.ts';

export interface RegistryClientOptions {
  /** e.g. https://bke.local:40443; always https. */
  readonly url: string;
  /** PEM certificates to trust; only these. Without it the machine's own. */
  readonly ca?: readonly string[];
  readonly username?: string;
  readonly password?: string;
  /** Longest silence on a connection in ms; default 30 000. There is no limit on the whole. */
  readonly idleTimeoutMs?: number;
  /** Where HTTPS_PROXY and NO_PROXY are looked up; without it no proxy is used. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>;
}

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly repository: string;
  /** Path below /v2/<repository>/, or a whole URL that the registry gave. */
  readonly target: string | URL;
  /** For messages: 'push blob sha256:…'. */
  readonly action: string;
  /** Statuses the caller deals with; any other is an error. */
  readonly expect: readonly number[];
  readonly headers?: OutgoingHttpHeaders;
  /** A stream can't be sent twice: such a call is not tried again. */
  readonly body?: Buffer | Readable;
  readonly idleTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const redirectLimit = 5;
const redirects = [301, 302, 303, 307, 308];

export class RegistryConnection {
  readonly base: URL;
  readonly #agent: Agent;
  readonly #login: RegistryLogin;
  readonly #idleTimeoutMs: number;

  constructor(options: RegistryClientOptions) {
    if (!URL.canParse(options.url) || new URL(options.url).protocol !== 'https:') {
      throw new BkeError(
        'BKE_REGISTRY_TLS',
        `${options.url} is no https:// address; bke talks to registries over TLS only`,
      );
    }
    this.base = new URL(options.url);
    this.#agent = createAgent({ ca: options.ca, proxyEnv: options.proxyEnv });
    this.#login = new RegistryLogin(credentialsOf(options));
    this.#idleTimeoutMs = options.idleTimeoutMs ?? 30_000;
  }

  /** host:port */
  get registry(): string {
    return this.base.host;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** An answer whose status is expected; broken connections are tried again where the body can be sent again. */
  async call(call: Call): Promise<IncomingMessage> {
    const replayable = call.body === undefined || Buffer.isBuffer(call.body);
    const response = await retry(() => this.#withLogin(call), {
      attempts: replayable ? 4 : 1,
      deadlineMs: 4 * (call.idleTimeoutMs ?? this.#idleTimeoutMs),
      pauseMs: 250,
      signal: call.signal,
      retriable: isNetworkError,
    });
    if (call.expect.includes(response.statusCode ?? 0)) return response;
    throw refusalError({
      registry: this.registry,
      repository: call.repository,
      action: call.action,
      status: response.statusCode ?? 0,
      body: await readBody(response, this.base, 64 * 1024).catch(() => Buffer.alloc(0)),
    });
  }

  /** As `call`, for callers that want nothing of the body, with broken connections as the user meets them. */
  async head(call: Call): Promise<IncomingMessage> {
    return this.naming(call.action, async () => {
      const response = await this.call(call);
      discard(response);
      return response;
    });
  }

  async naming<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      throw unreachable(thrown, this.registry, action);
    }
  }

  async #withLogin(call: Call): Promise<IncomingMessage> {
    const scope = scopeOf(call);
    const sent = this.#login.headerFor(scope);
    const response = await this.#follow(call, scope);
    if (response.statusCode !== 401) return response;
    const challenge = parseChallenge(response.headers['www-authenticate']);
    const template = { idleTimeoutMs: this.#idleTimeoutMs, agent: this.#agent, signal: call.signal };
    const replayable = call.body === undefined || Buffer.isBuffer(call.body);
    if (!(await this.#login.answer(challenge, { scope, sent }, template)) || !replayable) return response;
    discard(response);
    return this.#follow(call, scope);
  }

  async #follow(call: Call, scope: string): Promise<IncomingMessage> {
    let url =
      typeof call.target === 'string' ? new URL(`/v2/${call.repository}/${call.target}`, this.base) : call.target;
    for (let hop = 0; ; hop += 1) {
      const response = await this.#send(call, url, scope);
      const location = response.headers.location;
      const redirected =
        redirects.includes(response.statusCode ?? 0) && (call.method === 'GET' || call.method === 'HEAD');
      if (!redirected || location === undefined || hop === redirectLimit) return response;
      discard(response);
      url = new URL(location, url);
      if (url.protocol !== 'https:') {
        throw new BkeError(
          'BKE_REGISTRY_TLS',
          `${this.registry} sends its readers to ${url.origin}, which is not https`,
        );
      }
    }
  }

  #send(call: Call, url: URL, scope: string): Promise<IncomingMessage> {
    // Where a registry keeps its blobs elsewhere, that place has no business with our login.
    const authorization = url.host === this.base.host ? this.#login.headerFor(scope) : undefined;
    return exchange({
      method: call.method,
      url,
      headers: { ...call.headers, ...(authorization === undefined ? {} : { authorization }), 'user-agent': 'bke' },
      idleTimeoutMs: call.idleTimeoutMs ?? this.#idleTimeoutMs,
      agent: this.#agent,
      signal: call.signal,
      ...(call.body === undefined ? {} : { body: call.body }),
    });
  }
}

export function isNetworkError(thrown: unknown): boolean {
  return thrown instanceof NetworkError;
}

function scopeOf({ method, repository }: Call): string {
  return `repository:${repository}:${method === 'GET' || method === 'HEAD' ? 'pull' : 'pull,push'}`;
}

function credentialsOf({ username, password }: RegistryClientOptions): Credentials | undefined {
  return username === undefined || password === undefined ? undefined : { username, password };
}
