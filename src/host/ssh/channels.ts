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
  /** Slots in use: channels that are open or being opened. */
  #taken = 0;
  #open = 0;
  /** As many the server has let be open at once. */
  #mostOpen = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Waits for a slot, then opens a channel and starts `command` in the login shell. The slot is free again when the channel has closed.
   * @throws ChannelRefused when the server lets none be opened although no other is open; the signal's reason.
   */
  async open(command: string, signal: AbortSignal): Promise<ClientChannel> {
    let refusedSince: number | undefined;
    await this.#slot(signal);
    for (;;) {
      try {
        return this.#opened(await openChannel(this.#client, command));
      } catch (error) {
        refusedSince ??= performance.now();
        if (!isRefusal(error) || this.#hopeless(refusedSince)) {
          this.#release();
          throw isRefusal(error) ? new ChannelRefused(toError(error).message, { cause: error }) : error;
        }
        if (this.#isFull(refusedSince)) {
          this.#limit = Math.min(this.#limit, this.#open);
          this.#release();
          await this.#slot(signal);
          refusedSince = undefined;
        } else
          await pause(50 + Math.random() * 100, undefined, { signal }).catch((aborted: unknown) =>
            this.#giveUp(aborted),
          );
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

  /** Those that are open are what the server allows; else it may not have noticed yet that one of them has ended. */
  #isFull(refusedSince: number): boolean {
    return this.#open > 0 && (this.#open >= this.#mostOpen || performance.now() - refusedSince > 1000);
  }

  #hopeless(refusedSince: number): boolean {
    return this.#open === 0 && performance.now() - refusedSince > refusedForMs;
  }

  #opened(channel: ClientChannel): ClientChannel {
    this.#open += 1;
    this.#mostOpen = Math.max(this.#mostOpen, this.#open);
    channel.once('close', () => {
      this.#open -= 1;
      this.#release();
    });
    return channel;
  }

  #giveUp(reason: unknown): never {
    this.#release();
    throw reason;
  }

  async #slot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#limit) {
      this.#taken += 1;
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
    this.#taken -= 1;
    while (this.#taken < this.#limit) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#taken += 1;
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
