// Logs in to a host, through its bastion where it has one. Network faults are tried again within a deadline; nothing else is.
import type { Duplex } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { retry } from '../../lib/retry.ts';
import { errorField, toError } from '../../lib/thrown.ts';
import { Login } from './auth.ts';
import { Connection } from './connection.ts';
import { type Dialled, NetworkFault, OtherHostKey, cancelled, dial } from './dial.ts';
import { type HostTrust, loadTrust } from './host-trust.ts';
import { SshHost } from './ssh-host.ts';
import { type AcceptedKey, type HostKey, type SshOptions, type SshTarget, placeOf, readSecret } from './target.ts';

const attempts = 8;

/**
 * @throws BkeError BKE_SSH_UNREACHABLE, BKE_SSH_AUTH, BKE_HOST_KEY_UNKNOWN, BKE_HOST_KEY_CHANGED, BKE_SSH_KEY_INVALID, BKE_SSH_KEY_PASSPHRASE,
 * BKE_SSH_HOST_KEYS_INVALID, BKE_SSH_PROTOCOL, BKE_SSH_BASTION, BKE_CANCELLED: always the true cause of the last attempt.
 */
export async function connect(target: SshTarget, options: SshOptions = {}): Promise<SshHost> {
  const { connection, hostKey, newHostKeys } = await login(target, options);
  return new SshHost(connection, hostKey, newHostKeys);
}

interface LoggedIn {
  readonly connection: Connection;
  readonly client: Dialled['client'];
  readonly hostKey: HostKey;
  readonly newHostKeys: readonly AcceptedKey[];
}

async function login(target: SshTarget, options: SshOptions): Promise<LoggedIn> {
  const trust = await loadTrust(target);
  const credentials = await Login.prepare(target, options);
  const sudoPassword = await readSecret(target.sudo?.password);
  const bastion = target.bastion === undefined ? undefined : await login(target.bastion, options);
  const openStream = bastion === undefined ? undefined : (): Promise<Duplex> => forward(bastion.client, target);
  try {
    const dialled = await dialAgain({ target, trust, credentials, options, openStream });
    const connection = new Connection({
      client: dialled.client,
      target,
      options,
      loginPassword: credentials.password,
      sudoPassword,
      again: async () => (await login(target, { ...options, signal: undefined })).connection,
      closeBelow: async () => bastion?.connection.close(),
    });
    const accepted = dialled.newKey ? [{ target, key: dialled.hostKey }] : [];
    const newHostKeys = [...(bastion?.newHostKeys ?? []), ...accepted];
    return { connection, client: dialled.client, hostKey: dialled.hostKey, newHostKeys };
  } catch (error) {
    await bastion?.connection.close();
    throw error;
  }
}

interface Dialling {
  readonly target: SshTarget;
  readonly trust: HostTrust;
  readonly credentials: Login;
  readonly options: SshOptions;
  readonly openStream: (() => Promise<Duplex>) | undefined;
}

async function dialAgain(dialling: Dialling): Promise<Dialled> {
  const { target, options } = dialling;
  let tried = 0;
  try {
    return await retry(
      (attempt, remainingMs) => {
        tried = attempt;
        return dialTypes(dialling, Math.min(options.connectTimeoutMs ?? 15_000, remainingMs));
      },
      {
        attempts,
        deadlineMs: options.deadlineMs ?? 45_000,
        pauseMs: 300,
        longestMs: 5000,
        signal: options.signal,
        retriable,
      },
    );
  } catch (error) {
    if (options.signal?.aborted === true) throw cancelled(target, options.signal);
    throw error instanceof NetworkFault ? unreachable(target, error, tried) : error;
  }
}

/** Where only a fingerprint is known, the host is asked for its other types of keys before its key counts as changed. */
async function dialTypes(dialling: Dialling, timeoutMs: number): Promise<Dialled> {
  const withoutTypes = new Set<string>();
  let first: BkeError | undefined;
  for (;;) {
    try {
      const { credentials, ...request } = dialling;
      return await dial({ ...request, login: credentials.again(), timeoutMs, withoutTypes });
    } catch (error) {
      if (error instanceof OtherHostKey) {
        first ??= error.error;
        if (withoutTypes.has(error.type)) throw first;
        withoutTypes.add(error.type);
      } else if (first !== undefined && error instanceof BkeError && error.code === 'BKE_SSH_PROTOCOL') throw first;
      else throw error;
    }
  }
}

function retriable(error: unknown): boolean {
  if (!(error instanceof NetworkFault)) return false;
  return errorField(error.cause, 'code') !== 'ENOTFOUND';
}

function unreachable(target: SshTarget, fault: NetworkFault, tried: number): BkeError {
  const times = tried > 1 ? ` (tried ${tried} times)` : '';
  return new BkeError(
    'BKE_SSH_UNREACHABLE',
    `cannot reach ${target.name} (${placeOf(target)}): ${fault.message}${times}`,
    {
      host: target.name,
      hint: unreachableHint(target, fault.message),
      cause: fault.cause ?? fault,
    },
  );
}

function unreachableHint(target: SshTarget, message: string): string {
  if (message.includes('ENOTFOUND') || message.includes('EAI_AGAIN'))
    return `The name ${target.address} does not resolve: use an address, or mend DNS or /etc/hosts.`;
  if (message.includes('ECONNREFUSED'))
    return `The host is up, but nothing listens on port ${target.port}: is sshd running there, is ssh.port right?`;
  if (/before handshake|ECONNRESET/.test(message))
    return 'sshd closes connections before the login: too many at once (MaxStartups), or the address is blocked there.';
  return `Is the host on, is the address right, does a firewall let port ${target.port} through?`;
}

/** RFC 4254 5.1 */
const administrativelyProhibited = 1;

async function forward(client: Dialled['client'], target: SshTarget): Promise<Duplex> {
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
  const bastion = target.bastion?.address ?? 'the bastion';
  const reason = error.message.replace('(SSH) Channel open failure: ', '');
  if (error.reason !== administrativelyProhibited) {
    return new NetworkFault(`the bastion ${bastion} has no way to ${target.address} port ${target.port}: ${reason}`, {
      cause: error,
    });
  }
  return new BkeError(
    'BKE_SSH_BASTION',
    `the bastion ${bastion} forbids connections to ${target.address} port ${target.port}: ${reason}`,
    {
      host: target.name,
      hint: 'Set AllowTcpForwarding yes (or local) for the user in its sshd_config, and look for PermitOpen.',
      cause: error,
    },
  );
}
