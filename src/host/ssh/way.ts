// The way to a host through its bastion, and what a bastion's refusal means.
import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { BkeError } from '../../lib/errors.ts';
import { toError } from '../../lib/thrown.ts';
import type { Connection } from './connection.ts';
import { NetworkFault } from './dial.ts';
import type { Lease, SharedLogins } from './shared-logins.ts';
import type { AcceptedKey, SshOptions, SshTarget } from './target.ts';

export interface BastionLogin {
  readonly connection: Connection;
  readonly client: Client;
  readonly newHostKeys: readonly AcceptedKey[];
}

/** Renews its login where the bastion went away between two attempts on the host. */
export class Way {
  readonly #target: SshTarget;
  readonly #bastion: SshTarget;
  readonly #options: SshOptions;
  readonly #logins: SharedLogins<BastionLogin>;
  #lease: Lease<BastionLogin> | undefined;

  constructor(target: SshTarget, bastion: SshTarget, options: SshOptions, logins: SharedLogins<BastionLogin>) {
    this.#target = target;
    this.#bastion = bastion;
    this.#options = options;
    this.#logins = logins;
  }

  /** @throws what logging in to the bastion throws. */
  async lease(): Promise<BastionLogin> {
    if (this.connection?.lost === true) await this.release();
    this.#lease ??= await this.#logins.lease(this.#bastion, this.#options);
    return this.#lease.login;
  }

  /** @throws NetworkFault, BkeError BKE_SSH_BASTION, or what logging in to the bastion again throws. */
  readonly open = async (): Promise<Duplex> => {
    const { client } = await this.lease();
    return forward(client, this.#target);
  };

  get connection(): Connection | undefined {
    return this.#lease?.login.connection;
  }

  get newHostKeys(): readonly AcceptedKey[] {
    return this.#lease?.login.newHostKeys ?? [];
  }

  async release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    await lease?.release();
  }
}

/** RFC 4254 5.1 */
const administrativelyProhibited = 1;

async function forward(client: Client, target: SshTarget): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const done = (error: (Error & { reason?: unknown }) | undefined, stream: Duplex): void => {
      if (error === undefined) resolve(stream);
      else reject(forwardError(error, target));
    };
    try {
      client.forwardOut('127.0.0.1', 0, target.address, target.port, done);
    } catch (error) {
      reject(forwardError(toError(error), target));
    }
  });
}

function forwardError(error: Error & { reason?: unknown }, target: SshTarget): Error {
  const bastion = target.bastion?.name ?? '';
  const reason = error.message.replace('(SSH) Channel open failure: ', '');
  if (error.reason !== administrativelyProhibited) {
    return new NetworkFault(`${bastion} has no way to ${target.address} port ${target.port}: ${reason}`, {
      cause: error,
    });
  }
  return new BkeError(
    'BKE_SSH_BASTION',
    `cannot reach ${target.name}: ${bastion} forbids connections to ${target.address} port ${target.port}: ${reason}`,
    {
      host: target.name,
      hint: `Set AllowTcpForwarding yes (or local) for ${target.bastion?.user ?? 'the user'} in the sshd_config of ${bastion}, and look for PermitOpen and DisableForwarding there.`,
      cause: error,
    },
  );
}
