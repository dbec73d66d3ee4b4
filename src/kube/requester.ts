// One request to the API with its whole answer: who asks, how long it may take, and tries again where the server says it is only busy.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { networkFault } from '../lib/network-fault.ts';
import { toError } from '../lib/thrown.ts';
import { bkeVersion } from '../lib/version.ts';
import { readWhole } from './body.ts';
import { type Bound, createBound } from './bound.ts';
import type { KubeConnection } from './connection.ts';
import type { Fence } from './fence.ts';
import { type Call, Transport, unreachable } from './transport.ts';

export interface Ask {
  readonly method: Call['method'];
  /** With query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const defaultTimeoutMs = 30_000;
/** Tries in all where the server answers that it is busy (429, or 503 with the time to wait). */
const busyTries = 5;
const longestBusyPauseMs = 5000;

export class Requester {
  readonly #transport: Transport;
  readonly #credential: KubeConnection['credential'];
  readonly #fence: Fence | undefined;
  readonly #readTimeoutMs: number;

  /** @param fence of all that is no mere reading */
  constructor(connection: KubeConnection, fence?: Fence) {
    this.#fence = fence;
    this.#transport = new Transport(connection);
    this.#credential = connection.credential;
    this.#readTimeoutMs = connection.readTimeoutMs ?? defaultTimeoutMs;
  }

  /** Any status. @throws BkeError BKE_KUBE_UNREACHABLE, BKE_KUBE_FAILED where the answer is too large; the signal's reason once it is aborted; what the fence throws */
  async ask(given: Ask): Promise<Answer> {
    const ask = this.#fenced(given);
    const usualMs = ask.method === 'GET' ? this.#readTimeoutMs : defaultTimeoutMs;
    const bound = createBound(ask.timeoutMs ?? usualMs, ask.signal);
    try {
      return await this.#untilNotBusy(ask, bound);
    } catch (thrown) {
      throw faultOf(thrown, bound, ask.signal);
    } finally {
      bound.release();
    }
  }

  #fenced(ask: Ask): Ask {
    if (this.#fence === undefined || ask.method === 'GET') return ask;
    this.#fence.check();
    const { signal } = this.#fence;
    return { ...ask, signal: ask.signal === undefined ? signal : AbortSignal.any([ask.signal, signal]) };
  }

  async #untilNotBusy(ask: Ask, bound: Bound): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.open(ask, bound.signal);
      const answer = await answerOf(response);
      const wait = busyPauseMs(response);
      if (wait === undefined || attempt === busyTries) return answer;
      await pause(wait, undefined, { signal: bound.signal });
    }
  }

  /** The head of the answer has come; its body is the caller's to read. */
  async open(ask: Ask, signal: AbortSignal): Promise<IncomingMessage> {
    const body = ask.body === undefined ? undefined : Buffer.from(JSON.stringify(ask.body));
    const headers: OutgoingHttpHeaders = {
      accept: 'application/json',
      'user-agent': `bke/${await bkeVersion()}`,
      ...(body === undefined
        ? {}
        : { 'content-type': ask.contentType ?? 'application/json', 'content-length': body.length }),
      ...(this.#credential.type === 'token'
        ? { authorization: `Bearer ${(await this.#credential.token()).trim()}` }
        : {}),
    };
    const beforeSend = ask.method === 'GET' ? undefined : (): void => this.#fence?.check();
    return this.#transport.send({ method: ask.method, path: ask.path, headers, body, signal, beforeSend });
  }

  close(): void {
    this.#transport.close();
  }
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const text = await readWhole(response);
  return { status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', text };
}

/** Nothing was done of such a request, so that it may be sent again whatever it was. */
function busyPauseMs({ statusCode, headers }: IncomingMessage): number | undefined {
  const after = headers['retry-after'];
  if (statusCode !== 429 && (statusCode !== 503 || after === undefined)) return undefined;
  const seconds = Number(after ?? 1);
  return Math.min(longestBusyPauseMs, (Number.isFinite(seconds) ? seconds : 1) * 1000);
}

/** The caller's own reason, the time that ran out, or what went wrong. */
export function faultOf(thrown: unknown, bound: Bound, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (bound.expired()) return unreachable([toError(bound.signal.reason).message], thrown);
  const broken = thrown instanceof Error ? networkFault(thrown, '') : undefined;
  return broken === undefined ? thrown : unreachable([`the connection broke off: ${broken}`], thrown);
}
