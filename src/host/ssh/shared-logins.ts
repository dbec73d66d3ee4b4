// Logins that many go through: all hosts behind one bastion share one connection, so that it counts one login (MaxStartups) and a wrong password once.
import { isDeepStrictEqual } from 'node:util';
import { BkeError } from '../../lib/errors.ts';
import type { Connection } from './connection.ts';
import { cancelled } from './dial.ts';
import type { SshOptions, SshTarget } from './target.ts';

interface Closable {
  readonly connection: Connection;
}

/** One user's hold on a shared login. */
export interface Lease<LoggedIn> {
  readonly login: LoggedIn;
  /** Ends the login when nobody else holds it. */
  release(): Promise<void>;
}

/** Hosts of one run come in waves: who comes later learns of a refused login instead of causing another one. */
const refusalKeptMs = 30_000;

export class SharedLogins<LoggedIn extends Closable> {
  readonly #open: (target: SshTarget, options: SshOptions) => Promise<LoggedIn>;
  readonly #entries = new Set<Entry<LoggedIn>>();

  constructor(open: (target: SshTarget, options: SshOptions) => Promise<LoggedIn>) {
    this.#open = open;
  }

  /**
   * Same place, user, credentials and known keys are one login; the options of who comes first decide how it is made.
   * Session limits (MaxSessions) do not matter here: sshd counts shells there, no forwarded connections.
   * @throws what the login threw; BKE_CANCELLED when the caller's own signal ends the wait.
   */
  async lease(target: SshTarget, options: SshOptions): Promise<Lease<LoggedIn>> {
    const entry = this.#find(target, options) ?? this.#enter(target, options);
    entry.users += 1;
    const release = this.#releaser(entry);
    try {
      return { login: await untilAborted(entry.login, target, options.signal), release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  #find(target: SshTarget, { acceptNew }: SshOptions): Entry<LoggedIn> | undefined {
    for (const entry of this.#entries) {
      if (entry.loggedIn?.connection.lost === true) this.#entries.delete(entry);
      else if (isDeepStrictEqual(entry.target, target) && entry.acceptNew === isGiven(acceptNew)) return entry;
    }
    return undefined;
  }

  #enter(target: SshTarget, options: SshOptions): Entry<LoggedIn> {
    const stop = new AbortController();
    const login = this.#open(target, { ...options, signal: stop.signal });
    const entry: Entry<LoggedIn> = {
      target,
      acceptNew: isGiven(options.acceptNew),
      stop,
      login,
      failed: false,
      users: 0,
    };
    this.#entries.add(entry);
    void this.#settle(entry);
    return entry;
  }

  async #settle(entry: Entry<LoggedIn>): Promise<void> {
    try {
      entry.loggedIn = await entry.login;
    } catch (error) {
      entry.failed = true;
      this.#forget(entry, isRefusal(error) ? refusalKeptMs : 0);
    }
  }

  #forget(entry: Entry<LoggedIn>, afterMs: number): void {
    if (afterMs === 0) this.#entries.delete(entry);
    else setTimeout(() => this.#entries.delete(entry), afterMs).unref();
  }

  #releaser(entry: Entry<LoggedIn>): () => Promise<void> {
    let held = true;
    return async () => {
      if (!held) return;
      held = false;
      entry.users -= 1;
      if (entry.users > 0) return;
      // A refused one stays known for a while.
      if (!entry.failed) this.#entries.delete(entry);
      if (entry.loggedIn === undefined) entry.stop.abort();
      await entry.login.then((loggedIn) => loggedIn.connection.close()).catch(() => undefined);
    };
  }
}

interface Entry<LoggedIn> {
  readonly target: SshTarget;
  readonly acceptNew: boolean;
  readonly stop: AbortController;
  readonly login: Promise<LoggedIn>;
  loggedIn?: LoggedIn;
  failed: boolean;
  users: number;
}

function isGiven(acceptNew: SshOptions['acceptNew']): boolean {
  return acceptNew !== undefined && acceptNew !== false;
}

function isRefusal(error: unknown): boolean {
  return error instanceof BkeError && error.code === 'BKE_SSH_AUTH';
}

async function untilAborted<T>(work: Promise<T>, target: SshTarget, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(cancelled(target, signal));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
