// A live login on a host: its channels, its secrets, and whether it still lives.
import type { Client, ClientChannel } from 'ssh2';
import { BkeError } from '../../lib/errors.ts';
import { createRedactor } from '../../lib/redact.ts';
import { toError } from '../../lib/thrown.ts';
import { ChannelQueue, ChannelRefused } from './channels.ts';
import { Gate } from './gate.ts';
import { type Program, type ProgramResult, type Surroundings, runProgram } from './program.ts';
import { bodyScript } from './script.ts';
import type { SshOptions, SshTarget } from './target.ts';

export interface ConnectionParts {
  readonly client: Client;
  readonly target: SshTarget;
  readonly options: SshOptions;
  readonly loginPassword: string | undefined;
  readonly sudoPassword: string | undefined;
  /** Another login on the same host, for the case that this one has no channel left. */
  again(): Promise<Connection>;
  /** The bastion this connection goes through. */
  readonly below?: Below | undefined;
}

interface Below {
  readonly connection: Connection | undefined;
  /** Others may still go through it. */
  release(): Promise<void>;
}

export class Connection {
  readonly #parts: ConnectionParts;
  readonly #queue: ChannelQueue;
  readonly #lost = new AbortController();
  readonly #sudoGate = new Gate(isSudoError);
  #sudoPassword: string | undefined;
  #closing = false;
  readonly redact: (text: string) => string;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#queue = new ChannelQueue(parts.client);
    this.#sudoPassword = parts.sudoPassword ?? parts.loginPassword;
    // The closure reads the secrets anew, since a sudo password may be asked for later.
    this.redact = (text) => createRedactor([parts.loginPassword ?? '', this.#sudoPassword ?? ''])(text);
    let cause: Error | undefined;
    parts.client.on('error', (error) => {
      cause ??= error;
    });
    parts.client.on('close', () => this.#onClose(cause));
  }

  get target(): SshTarget {
    return this.#parts.target;
  }

  /** Nothing goes through any more. */
  get lost(): boolean {
    return this.#lost.signal.aborted;
  }

  get lossMessage(): string {
    return this.lost ? toError(this.#lost.signal.reason).message : '';
  }

  /** One program. Where sudo is needed the first one goes alone, and its denial is everybody's: the host counts wrong passwords. */
  async run(program: Program): Promise<ProgramResult> {
    if (this.#parts.target.user === 'root') return runProgram(this.#around(), program);
    return this.#sudoGate.pass((through) => this.#runAsking({ ...program, onStart: through }));
  }

  /** Asks a person for the sudo password where sudo wants one, none is known and there is somebody to ask. */
  async #runAsking(program: Program): Promise<ProgramResult> {
    try {
      return await runProgram(this.#around(), program);
    } catch (error) {
      if (!isSudoError(error) || error.code !== 'BKE_SUDO_PASSWORD_NEEDED') throw error;
      const password = await this.#askSudoPassword();
      if (password === undefined) throw error;
      this.#sudoPassword = password;
      return runProgram(this.#around(), program);
    }
  }

  /** Ends the login; what still runs through it fails as lost. */
  async close(): Promise<void> {
    this.#closing = true;
    const { client } = this.#parts;
    if (!this.#lost.signal.aborted) {
      const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
      client.end();
      const timer = setTimeout(() => client.destroy(), 2000);
      await closed;
      clearTimeout(timer);
    }
    await this.#parts.below?.release();
  }

  async #askSudoPassword(): Promise<string | undefined> {
    const { target, options } = this.#parts;
    return options.askSudoPassword?.(`sudo password of ${target.user} on ${target.name}`);
  }

  #around(): Surroundings {
    return {
      target: this.#parts.target,
      sudoPassword: this.#sudoPassword,
      lost: this.#lost.signal,
      redact: this.redact,
      open: (command, signal) => this.#open(command, signal),
      // Where even that fails the host is out of reach, which the caller is told by the error that led here.
      endGroup: (group) => this.#endGroup(group).catch(() => undefined),
    };
  }

  async #open(command: string, signal: AbortSignal): Promise<ClientChannel> {
    const { target } = this.#parts;
    try {
      return await this.#queue.open(command, signal);
    } catch (error) {
      if (this.#lost.signal.aborted) throw this.#lost.signal.reason;
      if (signal.aborted) throw error;
      const reason = toError(error).message.replace('(SSH) ', '');
      throw new BkeError('BKE_SSH_SHELL', `${target.name} lets ${target.user} log in but start no command: ${reason}`, {
        host: target.name,
        hint:
          error instanceof ChannelRefused
            ? 'Check MaxSessions in the sshd_config of the host (0 forbids all commands).'
            : undefined,
        cause: error,
      });
    }
  }

  async #endGroup(group: string): Promise<void> {
    if (!/^[1-9]\d*$/.test(group) || group === '1') return;
    const ended = await this.#endGroupHere(group);
    if (ended) return;
    const other = await this.#parts.again();
    try {
      await other.run(endGroupProgram(group));
    } finally {
      await other.close();
    }
  }

  /** false where the server gives no further channel. */
  async #endGroupHere(group: string): Promise<boolean> {
    let opened = true;
    const open = async (command: string): Promise<ClientChannel> => {
      const channel = await this.#queue.openExtra(command);
      if (channel !== undefined) return channel;
      opened = false;
      throw new Error('no channel left');
    };
    try {
      await runProgram({ ...this.#around(), open, endGroup: () => Promise.resolve() }, endGroupProgram(group));
    } catch (error) {
      if (opened) throw error;
    }
    return opened;
  }

  #onClose(cause: Error | undefined): void {
    const { target, below } = this.#parts;
    const why = this.#closing ? 'bke closed it' : (cause?.message ?? 'the host closed it');
    // A bastion tells of its end before what goes through it does.
    const hop = below?.connection;
    this.#lost.abort(hop?.lost === true ? lostBelow(target, hop) : lost(target, why, cause));
  }
}

function lost(target: SshTarget, why: string, cause: Error | undefined): BkeError {
  return new BkeError('BKE_SSH_LOST', `the connection to ${target.name} broke: ${why}`, {
    host: target.name,
    hint: 'Check that the host is up, then run the same command again.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function lostBelow(target: SshTarget, bastion: Connection): BkeError {
  const message = `the connection to ${target.name} broke with the one to its bastion: ${bastion.lossMessage}`;
  return new BkeError('BKE_SSH_LOST', message, {
    host: target.name,
    hint: `Check that ${bastion.target.name} is up, then run the same command again.`,
  });
}

function isSudoError(error: unknown): error is BkeError {
  return error instanceof BkeError && (error.code === 'BKE_SUDO_DENIED' || error.code === 'BKE_SUDO_PASSWORD_NEEDED');
}

/** Terminate, two seconds for it, kill. */
function endGroupProgram(group: string): Program {
  const body = [
    `kill -s TERM -- -${group}`,
    `i=0; while [ $i -lt 20 ] && kill -s 0 -- -${group}; do sleep 0.1; i=$((i+1)); done`,
    `kill -s KILL -- -${group}`,
  ].join('; ');
  return {
    script: bodyScript(`{ ${body}; } 2>/dev/null`),
    timeoutMs: 10_000,
    maxOutputBytes: 1024,
    what: `ending process group ${group}`,
  };
}
