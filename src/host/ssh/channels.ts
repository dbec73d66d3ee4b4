// Opens session channels on one connection, never more at once than the server allows (MaxSessions): who is refused waits for a free one.
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, ClientChannel } from 'ssh2';
import { errorField, toError } from '../../lib/thrown.ts';

/** OpenSSH's default MaxSessions is 10; one is left for ending a program that overstays. */
const mostChannels = 9;
/** How long a server may refuse although none of ours is open: it frees a slot only when the last program's process is gone. */
const refusedForMs = 10_000;

export class ChannelRefused extends Error {
  override readonly name = 'ChannelRefused';
}

export class ChannelQueue {
  readonly #client: Client;
  readonly #waiting: (() => void)[] = [];
  #limit = mostChannels;
  #open = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Waits for a slot, then opens a channel and starts `command` in the login shell. The slot is free again when the channel has closed.
   * @throws ChannelRefused when the server lets none be opened although no other is open; the signal's reason.
   */
  async open(command: string, signal: AbortSignal): Promise<ClientChannel> {
    const deadline = performance.now() + refusedForMs;
    for (;;) {
      await this.#slot(signal);
      try {
        const channel = await openChannel(this.#client, command);
        channel.once('close', () => this.#release());
        return channel;
      } catch (error) {
        this.#release();
        if (!isRefusal(error)) throw error;
        // The others that are open are what the server allows; alone, it may not have noticed yet that the last one ended.
        if (this.#open > 0) this.#limit = Math.min(this.#limit, this.#open);
        else if (performance.now() > deadline) throw new ChannelRefused(toError(error).message, { cause: error });
        else await pause(50 + Math.random() * 100, undefined, { signal });
      }
    }
  }

  /** Past the queue, for ending a program: undefined where the server has no slot left. */
  async openExtra(command: string): Promise<ClientChannel | undefined> {
    try {
      return await openChannel(this.#client, command);
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  async #slot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#open < this.#limit) {
      this.#open += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
      reject(toError(signal.reason));
    };
    this.#waiting.push(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  /** The slot goes to who waits first, unless the limit has become lower meanwhile. */
  #release(): void {
    this.#open -= 1;
    while (this.#open < this.#limit) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#open += 1;
      next();
    }
  }
}

function openChannel(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) reject(error);
      else resolve(channel);
    });
  });
}

/** SSH_MSG_CHANNEL_OPEN_FAILURE: the library puts the reason of RFC 4254 5.1 into `reason`. */
function isRefusal(error: unknown): boolean {
  return errorField(error, 'reason') !== undefined;
}
