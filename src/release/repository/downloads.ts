// Who may download at once, and for how long without taking anything: nobody can keep the others out, and nobody is cut for being slow.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PerClient } from './per-client.ts';

export interface DownloadLimits {
  /** Over both ports; more are answered 429 with Retry-After. */
  readonly most: number;
  /** Of one address; it may stand for many machines behind a router. */
  readonly mostPerClient: number;
  /** A download that takes fewer than `bytes` in `withinMs` is ended. There is no bound on how long one takes in all. */
  readonly slowest: { readonly bytes: number; readonly withinMs: number };
}

/** Less than 1 KiB/s for ten minutes; shorter, and what the kernel buffers for a slow link would look like a standstill. */
export const slowestDownload: DownloadLimits['slowest'] = { bytes: 512 * 1024, withinMs: 600_000 };

/** A place among the downloads. */
export interface Download {
  /** Told of bytes that the client's connection has taken. */
  took(bytes: number): void;
  end(): void;
}

export class Downloads {
  readonly #limits: DownloadLimits;
  readonly #clients: PerClient;
  #running = 0;

  constructor(limits: DownloadLimits) {
    this.#limits = limits;
    this.#clients = new PerClient(limits.mostPerClient);
  }

  /** undefined where there are too many already. */
  begin({ socket }: IncomingMessage, response: ServerResponse): Download | undefined {
    const client = socket.remoteAddress ?? '';
    if (this.#running >= this.#limits.most || !this.#clients.enter(client)) return undefined;
    this.#running += 1;
    const { bytes: least, withinMs } = this.#limits.slowest;
    let taken = 0;
    const watch = setInterval(() => {
      if (taken < least) response.destroy();
      taken = 0;
    }, withinMs).unref();
    return {
      took: (bytes) => {
        taken += bytes;
      },
      end: () => {
        clearInterval(watch);
        this.#running -= 1;
        this.#clients.leave(client);
      },
    };
  }
}
