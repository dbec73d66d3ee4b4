// The agent of one host as a process: heartbeat, token, inbox, side by side until it is told to end.
import { agentObjects } from '../api/agent-config.ts';
import type { Log } from '../lib/log.ts';
import type { Host } from '../host/host.ts';
import type { KubeClient } from '../kube/client.ts';
import { createKubeClient } from '../kube/create-client.ts';
import { fieldAt } from '../kube/fields.ts';
import { BkeError } from '../lib/errors.ts';
import { readSettings } from '../tasks/agent/configuration.ts';
import { agentPaths } from '../tasks/agent/paths.ts';
import { CommandStore } from './command-store.ts';
import { keepHeartbeat } from './heartbeat.ts';
import { hostCommandKind, Inbox, type InboxOptions } from './inbox.ts';
import { StatusReporter } from './reporter.ts';
import { AgentToken, keepTokenFresh } from './token.ts';

export interface AgentOptions {
  readonly host: Host;
  readonly log: Log;
  readonly now: () => Date;
  readonly operationsDirectory: string | undefined;
  /** Where `agentPaths.artifacts` really is; another place only in tests, whose host is a folder. */
  readonly artifactsDir?: string;
  /** Default: no more than 90 MiB once nothing was to do for a minute. */
  readonly rest?: InboxOptions['rest'];
}

const defaultRest = { idleMs: 60_000, mostBytes: 90 << 20 };

/** Until the signal, and until what runs then has come to a safe point; or until it is better to start anew, which gives memory back. @throws BkeError BKE_AGENT_NOT_INSTALLED */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const { host, log, now } = options;
  const settings = await readSettings(host);
  const token = new AgentToken(host, now);
  await token.load();
  const store = await CommandStore.open(host, now);
  const client = createKubeClient({
    servers: settings.servers,
    ca: [settings.ca],
    credential: { type: 'token', token: token.current },
  });
  const { namespace } = settings;
  const { hostCommand, inbox: secret } = agentObjects(settings.host);
  // Last of all: what a step came to is told also while the agent ends.
  const telling = new AbortController();
  const reporter = new StatusReporter({
    client,
    key: { ...hostCommandKind, namespace, name: hostCommand },
    log,
    signal: telling.signal,
  });
  const inbox = new Inbox({
    client,
    settings,
    store,
    reporter,
    log,
    now,
    rest: options.rest ?? defaultRest,
    execute: {
      host,
      settings,
      log,
      now,
      operationsDirectory: options.operationsDirectory,
      artifactsDir: options.artifactsDir ?? agentPaths.artifacts,
      readInbox: () => readInbox(client, namespace, secret),
    },
  });
  log.info({ host: settings.host, servers: settings.servers }, 'started');
  try {
    await together(signal, [
      (until) => keepHeartbeat({ host, client, settings, log, now }, until),
      (until) => keepTokenFresh(token, { client, settings, log }, until),
      (until) => inbox.run(until),
    ]);
  } finally {
    telling.abort();
    await reporter.ended;
    client.close();
  }
}

/** The end of one ends all: systemd starts the agent anew. */
async function together(signal: AbortSignal, works: readonly ((until: AbortSignal) => Promise<void>)[]): Promise<void> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const results = await Promise.allSettled(
    works.map((work) => work(until).finally(() => over.abort(new Error('the agent ends')))),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function readInbox(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  name: string,
): Promise<ReadonlyMap<string, Buffer>> {
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name });
  if (secret === undefined) {
    throw new BkeError('BKE_INBOX_EMPTY', `the Secret ${namespace}/${name} is not there`, {
      hint: 'The controller makes it before the step that needs it; it writes the command again.',
    });
  }
  const data = Object.entries(fieldAt(secret, 'data') ?? {});
  return new Map(
    data.flatMap(([key, value]) => (typeof value === 'string' ? [[key, Buffer.from(value, 'base64')]] : [])),
  );
}
