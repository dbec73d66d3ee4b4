// Logs in to a host, through its bastion where it has one. Network faults are tried again within a deadline; nothing else is.
import type { Duplex } from 'node:stream';
import { isExampleAddress } from '../../lib/address.ts';
import { BkeError } from '../../lib/errors.ts';
import { retry } from '../../lib/retry.ts';
import { errorField } from '../../lib/thrown.ts';
import { Login } from './auth.ts';
import { Connection } from './connection.ts';
import { type Dialled, NetworkFault, OtherHostKey, cancelled, dial } from './dial.ts';
import { type HostTrust, loadTrust } from './host-trust.ts';
import { SharedLogins } from './shared-logins.ts';
import { SshHost } from './ssh-host.ts';
import { type AcceptedKey, type HostKey, type SshOptions, type SshTarget, placeOf, readSecret } from './target.ts';
import { type BastionLogin, Way } from './way.ts';

const attempts = 8;

/**
 * @throws BkeError BKE_SSH_UNREACHABLE, BKE_SSH_AUTH, BKE_HOST_KEY_UNKNOWN, BKE_HOST_KEY_CHANGED, BKE_SSH_KEY_INVALID, BKE_SSH_KEY_PASSPHRASE,
 * BKE_SSH_HOST_KEYS_INVALID, BKE_SSH_PROTOCOL, BKE_SSH_BASTION, BKE_CANCELLED: always the true cause of the last attempt.
 */
export async function connect(target: SshTarget, options: SshOptions = {}): Promise<SshHost> {
  const { connection, hostKey, newHostKeys } = await login(target, options);
  return new SshHost(connection, hostKey, newHostKeys);
}

interface LoggedIn extends BastionLogin {
  readonly hostKey: HostKey;
}

const bastions = new SharedLogins<LoggedIn>(login);

async function login(target: SshTarget, options: SshOptions): Promise<LoggedIn> {
  const end = performance.now() + deadlineOf(options);
  const trust = await loadTrust(target);
  const credentials = await Login.prepare(target, options);
  const sudoPassword = await readSecret(target.sudo?.password);
  const way = target.bastion === undefined ? undefined : new Way(target, target.bastion, options, bastions);
  try {
    await way?.lease();
    const left = { ...options, deadlineMs: way === undefined ? deadlineOf(options) : deadlineLeft(options, end) };
    const dialled = await dialAgain({ target, trust, credentials, options: left, openStream: way?.open });
    const connection = new Connection({
      client: dialled.client,
      target,
      options,
      loginPassword: credentials.password,
      sudoPassword,
      again: async () => (await login(target, { ...options, signal: undefined })).connection,
      below: way,
    });
    return { connection, client: dialled.client, hostKey: dialled.hostKey, newHostKeys: newKeys(way, target, dialled) };
  } catch (error) {
    await way?.release();
    throw error;
  }
}

function newKeys(way: Way | undefined, target: SshTarget, { newKey, hostKey }: Dialled): AcceptedKey[] {
  return [...(way?.newHostKeys ?? []), ...(newKey ? [{ target, key: hostKey }] : [])];
}

function connectTimeoutOf(options: SshOptions): number {
  return options.connectTimeoutMs ?? 15_000;
}

function deadlineOf(options: SshOptions): number {
  return options.deadlineMs ?? 45_000;
}

/** What the bastions took is gone, but a host behind them gets one attempt of its own. */
function deadlineLeft(options: SshOptions, end: number): number {
  return Math.max(end - performance.now(), Math.min(connectTimeoutOf(options), deadlineOf(options)));
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
        return dialTypes(dialling, Math.min(connectTimeoutOf(options), remainingMs));
      },
      {
        attempts,
        deadlineMs: deadlineOf(options),
        pauseMs: 300,
        longestMs: 5000,
        signal: options.signal,
        retriable: (error) => retriable(target, error),
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
      return await dial({ ...dialling, timeoutMs, withoutTypes });
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

function retriable({ address }: SshTarget, error: unknown): boolean {
  if (!(error instanceof NetworkFault) || isExampleAddress(address)) return false;
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

/** What a person can do about it. */
export function unreachableHint(target: SshTarget, message: string): string {
  const { address, port, bastion } = target;
  if (isExampleAddress(address))
    return `Its address only stands in examples (RFC 5737, RFC 3849): write its own one instead.`;
  const seen = bastion === undefined ? '' : `Seen from ${bastion.name}: `;
  if (message.includes('ENOTFOUND') || message.includes('EAI_AGAIN'))
    return `The name ${address} does not resolve: use an address, or mend DNS or /etc/hosts.`;
  if (/ECONNREFUSED|Connection refused/.test(message))
    return `${seen}The host is up, but nothing listens on port ${port}: is sshd running there, is ${target.field ?? 'ssh'}.port right?`;
  if (/before handshake|ECONNRESET/.test(message))
    return 'sshd closes connections before the login: too many at once (MaxStartups), or the address is blocked there.';
  return `${seen}Is the host on, is the address right, does a firewall let port ${port} through?`;
}
