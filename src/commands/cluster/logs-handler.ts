// The work of `bke cluster logs`: reads again and again where it follows, and gives each line once.
import { setTimeout as pause } from 'node:timers/promises';
import { operationsOf } from '../../controllers/bkeoperation/operations.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { CommandResult } from '../../lib/command.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { openManagement } from '../management.ts';
import { type LogLine, logLines, logText } from './log-lines.ts';
import { readWorld } from './read-world.ts';

const defaultPauseMs = 2000;

export async function runLogs(context: CommandContext, read: InputReader): Promise<CommandResult> {
  const wanted = {
    namespace: read.requiredText('namespace'),
    name: read.requiredText('name'),
    follow: read.flag('follow'),
  };
  const client = await openManagement(context, read.text('kubeconfig'));
  if (wanted.follow) context.onStop('');
  return { kind: 'stream', texts: logTexts(context, client, wanted) };
}

export interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly follow: boolean;
}

/** Closes the client at its end. Where the API server is away while it follows, what it has then is shown when it is back. */
export async function* logTexts(
  context: Pick<CommandContext, 'signal' | 'note'>,
  client: Pick<KubeClient, 'list' | 'close'>,
  wanted: Wanted,
  pauseMs = defaultPauseMs,
): AsyncGenerator<string> {
  const { signal } = context;
  const told = new Set<string>();
  const contact = new Contact(context);
  try {
    do {
      for (const line of await contact.read(() => readLines(client, wanted))) {
        if (told.has(line.id)) continue;
        told.add(line.id);
        yield logText(line);
      }
      if (wanted.follow) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    } while (wanted.follow && !signal.aborted);
  } finally {
    client.close();
  }
}

/** Whether the management cluster answers, which it has to the first time. */
class Contact {
  readonly #context: Pick<CommandContext, 'note'>;
  #state: 'new' | 'there' | 'away' = 'new';

  constructor(context: Pick<CommandContext, 'note'>) {
    this.#context = context;
  }

  /** Nothing while it is away. @throws BkeError as `read` does */
  async read(read: () => Promise<LogLine[]>): Promise<LogLine[]> {
    try {
      const lines = await read();
      if (this.#state === 'away') this.#context.note('The management cluster answers again.');
      this.#state = 'there';
      return lines;
    } catch (thrown) {
      if (this.#state === 'new' || !(thrown instanceof BkeError) || thrown.code !== 'BKE_KUBE_UNREACHABLE')
        throw thrown;
      const words = `the management cluster does not answer (${thrown.message}); it goes on when it is back`;
      if (this.#state === 'there') this.#context.note(`warning: ${words}`);
      this.#state = 'away';
      return [];
    }
  }
}

async function readLines(client: Pick<KubeClient, 'list'>, { namespace, name }: Wanted): Promise<LogLine[]> {
  const { world, listed } = await readWorld(client, namespace, name);
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Event' }, { namespace });
  return logLines(world, operationsOf({ namespace, name }, listed('operation')), items);
}
