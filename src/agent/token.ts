// The agent's token: renewed by itself at a third of its life, and at once where it is a short one that only brought the agent up.
import { agentObjects, type AgentSettings } from '../api/agent-config.ts';
import { errorFields, type Log } from '../lib/log.ts';
import type { Host } from '../host/host.ts';
import { requestToken } from '../kube/account-token.ts';
import type { KubeClient } from '../kube/client.ts';
import { numberAt } from '../kube/fields.ts';
import { backOffMs } from '../lib/back-off.ts';
import { BkeError } from '../lib/errors.ts';
import { tryJson } from '../lib/try-json.ts';
import { rest } from '../lib/rest.ts';
import { writeToken } from '../tasks/agent/configuration.ts';
import { agentPaths } from '../tasks/agent/paths.ts';

const hourMs = 3_600_000;
const daySeconds = 24 * 3600;
/** Asked for; an API server may give less. */
const lifeSeconds = 30 * daySeconds;

export class AgentToken {
  readonly #host: Host;
  readonly #now: () => Date;
  #text = '';
  /** By the clock of this host, which is the only one that the age is measured by. */
  #since = 0;
  #renewed = false;

  constructor(host: Host, now: () => Date) {
    this.#host = host;
    this.#now = now;
  }

  /** @throws BkeError BKE_AGENT_NOT_INSTALLED */
  async load(): Promise<void> {
    const { files, name } = this.#host;
    const [content, stat] = [await files.read(agentPaths.token), await files.stat(agentPaths.token)];
    if (content === undefined || stat === undefined) {
      throw new BkeError('BKE_AGENT_NOT_INSTALLED', `${agentPaths.token} is not there`, {
        host: name,
        hint: 'The controller installs the agent over SSH: look at the conditions of the BKEHost.',
      });
    }
    this.#text = content.toString('utf8').trim();
    this.#since = Number(BigInt(stat.mtimeNs) / 1_000_000n);
  }

  readonly current = async (): Promise<string> => this.#text;

  /** Until it is due; 0 where it is. A clock that was set back makes it due, too: nobody knows then how old it is. */
  dueInMs(): number {
    const lifeMs = lifeOf(this.#text) * 1000;
    if (lifeMs <= hourMs && !this.#renewed) return 0;
    const age = this.#now().getTime() - this.#since;
    return age < 0 ? 0 : Math.max(0, lifeMs / 3 - age);
  }

  /** Written before it is used: a token that only this process knows would be lost with it. */
  async renew(client: Pick<KubeClient, 'request'>, { namespace, host }: AgentSettings): Promise<void> {
    const token = await requestToken(client, { namespace, account: agentObjects(host).account }, lifeSeconds);
    await writeToken(this.#host, token);
    this.#text = token;
    this.#since = this.#now().getTime();
    this.#renewed = true;
  }
}

/** Seconds, as the token itself says (RFC 7519, iat and exp); that of a whole one where it says nothing. */
export function lifeOf(token: string): number {
  const claims = tryJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  const [issued, expires] = [numberAt(claims, 'iat'), numberAt(claims, 'exp')];
  return issued === undefined || expires === undefined || expires <= issued ? lifeSeconds : expires - issued;
}

/** Until the signal. */
export async function keepTokenFresh(
  token: AgentToken,
  {
    client,
    settings,
    log,
  }: { readonly client: Pick<KubeClient, 'request'>; readonly settings: AgentSettings; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    // Not the whole time at once: the clock may be set meanwhile.
    const due = failures === 0 ? Math.min(token.dueInMs(), hourMs) : backOffMs(failures, 2000, 5 * 60_000);
    await rest(due, signal);
    if (signal.aborted || token.dueInMs() > 0) continue;
    try {
      await token.renew(client, settings);
      failures = 0;
      log.info({}, 'the token was renewed');
    } catch (thrown) {
      failures += 1;
      log.warn(errorFields(thrown), 'the token could not be renewed');
    }
  }
}
