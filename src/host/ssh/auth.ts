// The order of logging in: none (to learn what the server offers), key, agent, password; each credential goes to the server once.
import {
  type AnyAuthMethod,
  type AuthHandlerMiddleware,
  type KeyboardInteractiveAuthMethod,
  type ParsedKey,
} from 'ssh2';
import { BkeError } from '../../lib/errors.ts';
import { listed } from '../../lib/text.ts';
import { type UserAgent, agentError, openAgent } from './agent.ts';
import { loadPrivateKey } from './private-key.ts';
import { type Question, asksNewPassword, asksPassword, questionsOf } from './questions.ts';
import { type SshOptions, type SshTarget, placeOf, readSecret } from './target.ts';

/** sshd drops the connection at the sixth failure by default (MaxAuthTries). */
const mostTries = 6;

interface Credentials {
  readonly key?: ParsedKey | undefined;
  readonly agent?: UserAgent | undefined;
  readonly password?: string | undefined;
}

/** One login: what there is to try, what was tried, and afterwards why it failed. */
export class Login {
  readonly #target: SshTarget;
  readonly #credentials: Credentials;
  readonly #tried = new Set<string>();
  readonly #notes: string[] = [];
  #onRefusal: (error: BkeError) => void = () => undefined;
  #offered: readonly string[] = [];
  #greeted = false;
  #partial = false;

  private constructor(target: SshTarget, credentials: Credentials) {
    this.#target = target;
    this.#credentials = credentials;
    const { problem, leftOut = 0, fingerprints = [] } = credentials.agent ?? {};
    if (problem !== undefined) this.#notes.push(problem);
    if (leftOut > 0) {
      const all = fingerprints.length + leftOut;
      this.#notes.push(`only the first ${fingerprints.length} of ${all} keys of the SSH agent were tried`);
    }
  }

  /**
   * Reads key file and agent before anything is dialled, so that a bad key costs no login attempt.
   * @throws BkeError BKE_SSH_AGENT where the agent is the only way in and of no use; see loadPrivateKey.
   */
  static async prepare(target: SshTarget, options: SshOptions): Promise<Login> {
    const { privateKey, agentSocket } = target.auth;
    const key = privateKey === undefined ? undefined : await loadPrivateKey(target, privateKey, options);
    const password = await readSecret(target.auth.password);
    const others = [key, password].filter((credential) => credential !== undefined).length;
    const agent = agentSocket === undefined ? undefined : await openAgent(agentSocket, mostTries - others);
    // With another credential an agent that is of no use is a note.
    if (agent?.problem !== undefined && others === 0) throw agentError(target, agent.problem);
    return new Login(target, { key, agent, password });
  }

  /** The same credentials for another attempt. @param onRefusal called where bke will not answer what the server asks. */
  again(onRefusal: (error: BkeError) => void): Login {
    const login = new Login(this.#target, this.#credentials);
    login.#onRefusal = onRefusal;
    return login;
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

  /** The agent could not sign with one of its keys: refused by its owner, or the device is not plugged in. */
  noteAgent(error: Error): void {
    this.#notes.push(`the SSH agent: ${error.message}`);
  }

  #nextMethod(offered: readonly string[]): AnyAuthMethod | false {
    const username = this.#target.user;
    const { key, agent } = this.#credentials;
    if (offered.includes('publickey')) {
      if (key !== undefined && this.#first('key')) return { type: 'publickey', username, key: asKeyText(key) };
      if (agent?.agent !== undefined && this.#first('agent')) return { type: 'agent', username, agent: agent.agent };
    }
    return this.#nextPasswordMethod(offered);
  }

  #nextPasswordMethod(offered: readonly string[]): AnyAuthMethod | false {
    const username = this.#target.user;
    const { password } = this.#credentials;
    if (password !== undefined && offered.includes('password') && this.#first('password'))
      return { type: 'password', username, password };
    if (offered.includes('keyboard-interactive') && this.#mayBeAsked(password) && this.#first('keyboard-interactive'))
      return { type: 'keyboard-interactive', username, prompt: this.#answerer(password) };
    return false;
  }

  /**
   * The same password a second time by another method would be a second failed login in the host's books, unless the first was accepted.
   * A second step after a key is asked for even without a password, to name what the server wants.
   */
  #mayBeAsked(password: string | undefined): boolean {
    return this.#partial || (password !== undefined && !this.#tried.has('password'));
  }

  #first(method: string): boolean {
    if (this.#tried.has(method)) return false;
    this.#tried.add(method);
    return true;
  }

  #answerer(password: string | undefined) {
    let answered = false;
    return (...[, instructions, , prompts, finish]: Parameters<KeyboardInteractiveAuthMethod['prompt']>): void => {
      const questions = questionsOf(prompts);
      if (password !== undefined && !answered && asksPassword(questions)) {
        answered = true;
        finish([password]);
      } else this.#onRefusal(this.#refusal(questions, instructions.trim()));
    };
  }

  /** Nothing is answered then, so that the host counts no wrong code. */
  #refusal(questions: readonly Question[], instructions: string): BkeError {
    const { name } = this.#target;
    const asked = listed(questions.map(({ prompt }) => JSON.stringify(prompt)));
    const expired = asksNewPassword(questions);
    const why = expired
      ? 'the password has expired, the server asks for a new one'
      : `the server asks for what bke cannot answer: ${asked}`;
    return new BkeError('BKE_SSH_AUTH', `cannot log in to ${name} (${placeOf(this.#target)}): ${why}`, {
      host: name,
      details: [...this.#notes, ...(instructions === '' ? [] : [`the server said: ${JSON.stringify(instructions)}`])],
      hint: expired ? `Log in by hand and change it: ${this.#byHand()}` : this.#secondFactorHint(),
    });
  }

  #secondFactorHint(): string {
    const { user } = this.#target;
    return `bke answers password prompts only, no one-time codes. Let ${user} log in by key alone from this machine (Match block with AuthenticationMethods publickey in the sshd_config there), or use another account.`;
  }

  #byHand(): string {
    const { user, address, port } = this.#target;
    return `ssh -p ${port} ${user}@${address}`;
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
    const { key, agent, password } = this.#credentials;
    const field = this.#target.field ?? 'ssh';
    if (password === undefined && !this.#offered.includes('publickey'))
      return `The host wants a password: give ${field}.passwordFile.`;
    const publicKeys = `~/.ssh/authorized_keys of ${user}`;
    if (agent?.agent !== undefined && password === undefined)
      return `One of the agent's keys (ssh-add -L) must be in ${publicKeys}: ${listed(agent.fingerprints)}.`;
    if (password === undefined && key === undefined)
      return `Give ${field}.privateKeyFile, or ${field}.passwordFile where the host allows passwords.`;
    const keyPart = key === undefined ? '' : ` The public key must be in ${publicKeys}.`;
    return `Check user name, password and key of ${this.#target.name}; try by hand: ${this.#byHand()}.${keyPart}`;
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
