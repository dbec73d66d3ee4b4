// The user's running SSH agent: its keys, as many as a server lets one try, and why it is of no use where it is not.
import { BaseAgent, type IdentityCallback, type ParsedKey, createAgent } from 'ssh2';
import { BkeError } from '../../lib/errors.ts';
import { fingerprintOf, keyType } from '../../lib/ssh-public-key.ts';
import { toError } from '../../lib/thrown.ts';
import type { SshTarget } from './target.ts';

/** Keys as they are listed: text, bytes or parsed. */
type Identities = NonNullable<Parameters<IdentityCallback>[1]>;

export interface UserAgent {
  /** undefined: of no use, `problem` says why. */
  readonly agent: BaseAgent | undefined;
  readonly problem?: string;
  /** Of the keys that are tried, for whoever has to put one of them on the host. */
  readonly fingerprints: readonly string[];
  /** Keys that the agent has but that are not tried. */
  readonly leftOut: number;
}

const answerMs = 5000;

/**
 * @param socket path; empty: SSH_AUTH_SOCK is not set.
 * @param most keys to try: a server counts each as a failed login until one fits.
 */
export async function openAgent(socket: string, most: number): Promise<UserAgent> {
  const none = (problem: string): UserAgent => ({ agent: undefined, problem, fingerprints: [], leftOut: 0 });
  if (socket === '') return none('no SSH agent is running here: SSH_AUTH_SOCK is not set');
  const agent = createAgent(socket);
  try {
    const keys = await withTimeout(identitiesOf(agent));
    if (keys.length === 0) return none(`the SSH agent at ${socket} holds no key that can be used, or is locked`);
    const tried = keys.slice(0, most);
    return {
      agent: new LimitedAgent(agent, tried),
      fingerprints: tried.map(described),
      leftOut: keys.length - tried.length,
    };
  } catch (error) {
    return none(`the SSH agent at ${socket} does not answer: ${toError(error).message}`);
  }
}

/** Where the agent was the only way in. No host was contacted. */
export function agentError(target: SshTarget, problem: string): BkeError {
  return new BkeError('BKE_SSH_AGENT', `cannot log in to ${target.name}: ${problem}`, {
    host: target.name,
    hint: 'Start one and load the key: eval "$(ssh-agent)"; ssh-add. Look at it with ssh-add -l. Under sudo the variable is dropped: sudo --preserve-env=SSH_AUTH_SOCK bke …',
  });
}

class LimitedAgent extends BaseAgent {
  readonly #keys: Identities;
  override readonly sign: BaseAgent['sign'];

  constructor(agent: BaseAgent, keys: Identities) {
    super();
    this.#keys = keys;
    this.sign = agent.sign.bind(agent);
  }

  override getIdentities(done: (error: Error | undefined, keys?: Identities) => void): void {
    done(undefined, this.#keys);
  }
}

function identitiesOf(agent: BaseAgent): Promise<Identities> {
  return new Promise((resolve, reject) => {
    agent.getIdentities((error, keys) => {
      if (error) reject(error);
      else resolve(keys ?? []);
    });
  });
}

/** `ssh-ed25519 SHA256:…` */
function described(identity: Identities[number]): string {
  const blob = typeof identity === 'object' && 'getPublicSSH' in identity ? publicBlob(identity) : undefined;
  return blob === undefined ? 'a key of unknown type' : `${keyType(blob) ?? 'unknown'} ${fingerprintOf(blob)}`;
}

function publicBlob(key: ParsedKey): Buffer {
  return Buffer.from(key.getPublicSSH());
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${answerMs / 1000} s`)), answerMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
