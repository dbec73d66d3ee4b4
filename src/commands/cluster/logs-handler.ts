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

const pauseMs = 2000;

export async function runLogs(context: CommandContext, read: InputReader): Promise<CommandResult> {
  const wanted = {
    namespace: read.requiredText('namespace'),
    name: read.requiredText('name'),
    follow: read.flag('follow'),
  };
  const client = await openManagement(context, read.text('kubeconfig'));
  if (wanted.follow) context.onStop('no longer following');
  return { kind: 'stream', texts: linesOf(context, client, wanted) };
}

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly follow: boolean;
}

async function* linesOf(context: CommandContext, client: KubeClient, wanted: Wanted): AsyncGenerator<string> {
  const { signal } = context;
  const told = new Set<string>();
  try {
    do {
      const lines = await readLines(client, wanted).catch((thrown: unknown) => {
        // The API server may be away for a moment; what it has then is shown then.
        if (told.size > 0 && thrown instanceof BkeError && thrown.code === 'BKE_KUBE_UNREACHABLE') return [];
        throw thrown;
      });
      for (const line of lines) {
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

async function readLines(client: KubeClient, { namespace, name }: Wanted): Promise<LogLine[]> {
  const { world, listed } = await readWorld(client, namespace, name);
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Event' }, { namespace });
  return logLines(world, operationsOf({ namespace, name }, listed('operation')), items);
}
