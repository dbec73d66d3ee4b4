// How a host is reached over SSH: the fields of cluster.yaml's `ssh`, with every secret as a value in memory.

/** Read once per connection, kept in memory only. */
export type Secret = string | (() => string | Promise<string>);

export interface SshPrivateKey {
  /** Path, or … */
  readonly file?: string | undefined;
  /** … the text of the key itself. */
  readonly contents?: Secret | undefined;
  readonly passphrase?: Secret | undefined;
}

interface SshAuth {
  readonly password?: Secret | undefined;
  readonly privateKey?: SshPrivateKey | undefined;
  /** Path of the user's agent's socket (SSH_AUTH_SOCK); empty where the agent is asked for and that is not set. */
  readonly agentSocket?: string | undefined;
}

export interface SshTarget {
  /** As the user wrote it; goes into every message. */
  readonly name: string;
  /** Where it stands in the host's entry of cluster.yaml, for hints: `ssh` (default), `ssh.bastion`, `ssh.bastion.bastion`, … */
  readonly field?: string | undefined;
  /** Address or DNS name. */
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly auth: SshAuth;
  /** Where the login is not root. Without a password of its own the login password is given to sudo when it asks. */
  readonly sudo?: { readonly password?: Secret | undefined } | undefined;
  /** `SHA256:…` or key lines. Where there are any, nothing else is trusted. */
  readonly hostKeys: readonly string[];
  readonly bastion?: SshTarget | undefined;
  /** Read in this order; a file that does not exist is fine. */
  readonly knownHostsFiles: readonly string[];
}

/** A host key as shown to a person who is to accept it, and as recorded afterwards. */
export interface HostKey {
  /** ssh-ed25519, ecdsa-sha2-nistp256, ssh-rsa, … */
  readonly type: string;
  /** SHA256:… */
  readonly fingerprint: string;
  /** The public key in SSH's wire form. */
  readonly blob: Buffer;
}

/** A key that was accepted because nothing was known about the host: to be recorded by the caller. */
export interface AcceptedKey {
  readonly target: SshTarget;
  readonly key: HostKey;
}

export interface SshOptions {
  readonly signal?: AbortSignal | undefined;
  /** One attempt: TCP, key exchange and login. Default 15 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** All attempts together. Default 45 000. */
  readonly deadlineMs?: number | undefined;
  /** A silent connection is asked this often for a sign of life, and lost after three without answer. Default 10 000. */
  readonly keepaliveMs?: number | undefined;
  /**
   * What to do with the key of a host that nothing is known about: true accepts it, a function may ask a person.
   * Never consulted for a key that differs from a known one. The caller records the key (`SshHost.hostKey`).
   */
  readonly acceptNew?: boolean | ((target: SshTarget, key: HostKey) => Promise<boolean>) | undefined;
  /** Asks a person; undefined where there is nobody to ask. */
  readonly askPassphrase?: ((question: string) => Promise<string | undefined>) | undefined;
  readonly askSudoPassword?: ((question: string) => Promise<string | undefined>) | undefined;
}

/** deploy@10.0.0.5 port 2222, for messages. */
export function placeOf(target: SshTarget): string {
  return `${target.user}@${target.address} port ${target.port}`;
}

export async function readSecret(secret: Secret | undefined): Promise<string | undefined> {
  return typeof secret === 'function' ? secret() : secret;
}
