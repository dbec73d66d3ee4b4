// The order of logging in: none (to learn what the server offers), key, agent, password; each credential goes to the server once.
import {
  type AnyAuthMethod,
  type AuthHandlerMiddleware,
  BaseAgent,
  type IdentityCallback,
  type KeyboardInteractiveAuthMethod,
  type ParsedKey,
  createAgent,
} from 'ssh2';
import { BkeError } from '../../lib/errors.ts';
import { listed } from '../../lib/text.ts';
import { toError } from '../../lib/thrown.ts';
import { loadPrivateKey } from './private-key.ts';
import { type SshOptions, type SshTarget, placeOf, readSecret } from './target.ts';

/** sshd drops the connection at the sixth failure by default (MaxAuthTries); one is left for a key file and one for the password. */
const mostAgentKeys = 4;

interface Credentials {
  readonly key?: ParsedKey | undefined;
  readonly agent?: BaseAgent | undefined;
  readonly password?: string | undefined;
}

/** One login: what there is to try, what was tried, and afterwards why it failed. */
export class Login {
  readonly #target: SshTarget;
  readonly #credentials: Credentials;
  readonly #tried = new Set<string>();
  readonly #prepared: readonly string[];
  readonly #notes: string[];
  #offered: readonly string[] = [];
  #greeted = false;
  #partial = false;

  private constructor(target: SshTarget, credentials: Credentials, notes: string[]) {
    this.#target = target;
    this.#credentials = credentials;
    this.#prepared = notes;
    this.#notes = [...notes];
  }

  /** Reads key file and agent before anything is dialled, so that a bad key costs no login attempt. */
  static async prepare(target: SshTarget, options: SshOptions): Promise<Login> {
    const { privateKey, agentSocket, password } = target.auth;
    const notes: string[] = [];
    const credentials: Credentials = {
      key: privateKey === undefined ? undefined : await loadPrivateKey(target, privateKey, options),
      agent: agentSocket === undefined ? undefined : await openAgent(agentSocket, notes),
      password: await readSecret(password),
    };
    return new Login(target, credentials, notes);
  }

  /** The same credentials for another attempt. */
  again(): Login {
    return new Login(this.#target, this.#credentials, [...this.#prepared]);
  }

  /** Also what sudo gets where it has no password of its own. */
  get password(): string | undefined {
    return this.#credentials.password;
  }

  /** Only before that may a broken connection be dialled again: a host counts its failed logins. */
  get credentialSent(): boolean {
    return this.#tried.size > 0;
  }

  readonly handler: AuthHandlerMiddleware = (left, partial, next) => {
    if (!this.#greeted) {
      this.#greeted = true;
      next({ type: 'none', username: this.#target.user });
      return;
    }
    this.#partial ||= partial;
    if (this.#offered.length === 0 || partial) this.#offered = left;
    // oxlint-disable-next-line no-unsafe-type-assertion -- the library's types leave out `false`, its way to say that nothing is left to try
    (next as (method: AnyAuthMethod | false) => void)(this.#nextMethod(left));
  };

  #nextMethod(offered: readonly string[]): AnyAuthMethod | false {
    const username = this.#target.user;
    const { key, agent, password } = this.#credentials;
    if (offered.includes('publickey')) {
      if (key !== undefined && this.#first('key')) return { type: 'publickey', username, key: asKeyText(key) };
      if (agent !== undefined && this.#first('agent')) return { type: 'agent', username, agent };
    }
    return password !== undefined && this.#nextPasswordMethod(offered, password);
  }

  #nextPasswordMethod(offered: readonly string[], password: string): AnyAuthMethod | false {
    const username = this.#target.user;
    if (offered.includes('password') && this.#first('password')) return { type: 'password', username, password };
    // The same password a second time by another method would be a second failed login in the host's books.
    if (
      offered.includes('keyboard-interactive') &&
      !this.#tried.has('password') &&
      this.#first('keyboard-interactive')
    ) {
      return { type: 'keyboard-interactive', username, prompt: this.#answerer(password) };
    }
    return false;
  }

  #first(method: string): boolean {
    if (this.#tried.has(method)) return false;
    this.#tried.add(method);
    return true;
  }

  #answerer(password: string) {
    let answered = false;
    return (...[, , , prompts, finish]: Parameters<KeyboardInteractiveAuthMethod['prompt']>): void => {
      if (prompts.length === 1 && !answered) {
        answered = true;
        finish([password]);
        return;
      }
      const asked = prompts.map(({ prompt }) => JSON.stringify(prompt.trim())).join(', ');
      this.#notes.push(`the server asked for more than a password: ${asked}`);
      finish(prompts.map(() => ''));
    };
  }

  /** @param reason what the server or the library said. */
  failure(reason: Error): BkeError {
    const { name, user } = this.#target;
    const offered = this.#offered.length === 0 ? 'nothing' : listed(this.#offered);
    const tried = this.#tried.size === 0 ? 'nothing that fits' : listed([...this.#tried]);
    return new BkeError(
      'BKE_SSH_AUTH',
      `cannot log in to ${name} (${placeOf(this.#target)}): the server offers ${offered}; tried: ${tried}`,
      {
        host: name,
        details: [
          ...this.#notes,
          ...(this.#partial ? ['a first method was accepted, the server asks for a second one'] : []),
          ...said(reason),
        ],
        hint: this.#hint(user),
        cause: reason,
      },
    );
  }

  #hint(user: string): string {
    const hasPassword = this.#credentials.password !== undefined;
    const hasKey = this.#credentials.key !== undefined;
    if (!hasPassword && !this.#offered.includes('publickey'))
      return 'The host wants a password: give ssh.passwordFile.';
    if (!hasPassword && !hasKey) return 'Give ssh.privateKeyFile, or ssh.passwordFile where the host allows passwords.';
    const keyPart = hasKey ? ` The public key must be in ~/.ssh/authorized_keys of ${user}.` : '';
    return `Check user name, password and key of ${this.#target.name}; try by hand: ssh -p ${this.#target.port} ${user}@${this.#target.address}.${keyPart}`;
  }
}

function said(reason: Error): string[] {
  return /All configured authentication methods failed/.test(reason.message)
    ? []
    : [`the server said: ${reason.message}`];
}

/** The library takes a key it has parsed itself as well, but its types know the text form only. */
function asKeyText(key: ParsedKey): Buffer {
  // oxlint-disable-next-line no-unsafe-type-assertion -- see above
  return key as unknown as Buffer;
}

type Identities = NonNullable<Parameters<IdentityCallback>[1]>;

/** The user's agent with as many keys as a server lets one try; an agent that does not answer is a note, not an end: there may be a password. */
async function openAgent(socket: string, notes: string[]): Promise<BaseAgent | undefined> {
  const agent = createAgent(socket);
  try {
    const keys = await withTimeout(identitiesOf(agent), 5000);
    if (keys.length === 0) notes.push(`the SSH agent at ${socket} holds no key (ssh-add)`);
    if (keys.length > mostAgentKeys)
      notes.push(`only the first ${mostAgentKeys} of ${keys.length} keys of the SSH agent were tried`);
    return keys.length === 0 ? undefined : new LimitedAgent(agent, keys.slice(0, mostAgentKeys));
  } catch (error) {
    notes.push(`the SSH agent at ${socket} does not answer: ${toError(error).message}`);
    return undefined;
  }
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

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
