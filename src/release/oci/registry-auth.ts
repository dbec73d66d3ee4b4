// Logging in to a registry: basic, or a token from the server its challenge names (Docker token authentication).
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import { tryJson } from '../../lib/try-json.ts';
import { discard, type Exchange, exchange, readBody } from './http.ts';

const tokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface Challenge {
  readonly scheme: 'basic' | 'bearer';
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads WWW-Authenticate; undefined where it has no scheme known here. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const [, scheme = '', rest = ''] = /^\s*(\w+)\s*(.*)$/s.exec(header ?? '') ?? [];
  const known = scheme.toLowerCase();
  if (known !== 'basic' && known !== 'bearer') return undefined;
  return { scheme: known, parameters: challengeParameters(rest) };
}

function challengeParameters(text: string): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [, key = '', quoted, bare] of text.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)) {
    parameters[key.toLowerCase()] = quoted ?? bare ?? '';
  }
  return parameters;
}

function basicHeader({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** A call that was answered with 401. */
export interface RefusedCall {
  readonly scope: string;
  /** The Authorization header it had. */
  readonly sent: string | undefined;
}

/** Keeps one Authorization header per scope; a scope is e.g. repository:library/x:pull,push. */
export class RegistryLogin {
  readonly #credentials: Credentials | undefined;
  readonly #headers = new Map<string, string>();

  constructor(credentials: Credentials | undefined) {
    this.#credentials = credentials;
  }

  headerFor(scope: string): string | undefined {
    return this.#headers.get(scope);
  }

  /** Answers a 401. false: nothing better can be offered than what was sent. */
  async answer(
    challenge: Challenge | undefined,
    { scope, sent }: RefusedCall,
    template: Omit<Exchange, 'method' | 'url'>,
  ): Promise<boolean> {
    // Another call of this scope may have logged in while this one was on its way.
    const known = this.#headers.get(scope);
    if (known !== undefined && known !== sent) return true;
    const header =
      challenge?.scheme === 'bearer'
        ? await this.#token(challenge, scope, template)
        : this.#credentials === undefined
          ? undefined
          : basicHeader(this.#credentials);
    if (header === undefined || header === sent) return false;
    this.#headers.set(scope, header);
    return true;
  }

  async #token(
    challenge: Challenge,
    scope: string,
    template: Omit<Exchange, 'method' | 'url'>,
  ): Promise<string | undefined> {
    const realm = challenge.parameters['realm'];
    if (realm === undefined || !URL.canParse(realm)) return undefined;
    const url = new URL(realm);
    // A password must not travel in the clear because a registry says so.
    if (url.protocol !== 'https:') return undefined;
    if (challenge.parameters['service'] !== undefined) url.searchParams.set('service', challenge.parameters['service']);
    url.searchParams.set('scope', scope);
    const headers = this.#credentials === undefined ? {} : { authorization: basicHeader(this.#credentials) };
    const response = await exchange({ ...template, method: 'GET', url, headers });
    if (response.statusCode !== 200) {
      discard(response);
      throw new BkeError(
        'BKE_REGISTRY_LOGIN',
        `${url.host} gives no token for ${scope}: HTTP ${response.statusCode ?? 0}`,
        {
          hint: 'Check user name and password, and what they may do there.',
        },
      );
    }
    const token = tokenOf((await readBody(response, url)).toString('utf8'));
    return token === undefined ? undefined : `Bearer ${token}`;
  }
}

/** undefined where the answer has none; the answer itself is never shown. */
function tokenOf(answer: string): string | undefined {
  const { data } = tokenAnswer.safeParse(tryJson(answer));
  return data?.token ?? data?.access_token;
}
