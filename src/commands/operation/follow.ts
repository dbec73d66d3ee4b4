// Watches an operation of a cluster to its end, and shows its events as those of any operation. Who stops watching stops nothing.
import { setTimeout as pause } from 'node:timers/promises';
import type { OperationEvent } from '../../api/events.ts';
import type { KubeClient, KubeObject, ResourceKind } from '../../kube/client.ts';
import { hostVersion } from '../../cluster/render/names.ts';
import { startInformer } from '../../kube/informer.ts';
import { BkeError } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext } from '../context.ts';
import { throwUnlessDone } from './outcome.ts';
import { ringEvents } from './ring-events.ts';

export const operationKind: ResourceKind = { apiVersion: hostVersion, kind: 'BKEOperation' };

export interface Followed {
  readonly namespace: string;
  readonly name: string;
  /** Words that name the management cluster in commands to type again: ` --kubeconfig FILE`, or nothing. */
  readonly where: string;
}

/** A controller takes an operation up within seconds; one that is just being updated needs longer. */
const untoldMs = 20_000;
const untakenMs = 5 * 60_000;
const tickMs = 500;

/**
 * @throws what the operation failed with; BKE_DETACHED where the person stops watching; BKE_TIMEOUT where no controller takes it up; BKE_USAGE where it is gone
 */
export async function follow(
  context: CommandContext,
  client: Pick<KubeClient, 'list' | 'watch'>,
  followed: Followed,
): Promise<void> {
  const { name, namespace } = followed;
  const ended = new AbortController();
  const watched = new Watched(context);
  context.onStop(`no longer watching; the operation goes on`);
  const informer = startInformer({
    client,
    kind: operationKind,
    list: { namespace, fieldSelector: `metadata.name=${name}` },
    signal: ended.signal,
    onChange: ({ type, object }) => watched.see(type === 'deleted' ? undefined : object),
  });
  try {
    const finished = await untilFinished(context, watched, {
      followed,
      lastError: () => informer.state().lastError?.message,
    });
    throwUnlessDone(finished);
  } finally {
    ended.abort();
    await informer.ended;
  }
}

type Finished = Extract<OperationEvent, { type: 'operation.finished' }>;

class Watched {
  finished: Finished | undefined;
  taken = false;
  gone = false;
  #seq = 0;
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  see(object: KubeObject | undefined): void {
    this.gone = object === undefined;
    if (object === undefined) return;
    for (const event of ringEvents(object, this.#seq)) {
      this.#seq = event.seq;
      this.taken = true;
      this.#context.events(event);
      if (event.type === 'operation.finished') this.finished = event;
    }
  }
}

interface Waiting {
  readonly followed: Followed;
  readonly lastError: () => string | undefined;
}

async function untilFinished(
  context: CommandContext,
  watched: Watched,
  { followed, lastError }: Waiting,
): Promise<Finished> {
  const began = performance.now();
  let told = false;
  for (;;) {
    if (watched.finished !== undefined) return watched.finished;
    if (watched.gone) throw new BkeError('BKE_USAGE', `the operation ${followed.name} is gone from the cluster`);
    if (context.signal.aborted) throw detached(followed);
    const waited = performance.now() - began;
    if (!watched.taken && !told && waited > untoldMs) {
      told = true;
      context.note(untakenWords(waited, lastError()));
    }
    if (!watched.taken && waited > untakenMs) {
      throw new BkeError('BKE_TIMEOUT', untakenWords(waited, lastError()), {
        hint: `When it does, 'bke operation attach ${followed.name}${followed.where}' shows how it gets on.`,
      });
    }
    await pause(tickMs, undefined, { signal: context.signal }).catch(() => undefined);
  }
}

function untakenWords(waitedMs: number, trouble: string | undefined): string {
  const why = trouble === undefined ? '' : ` (${trouble})`;
  return `no controller has taken the operation up for ${formatDuration(waitedMs)}${why}: does bke-controller-manager run in namespace bke-system?`;
}

function detached({ name, where }: Followed): BkeError {
  return new BkeError('BKE_DETACHED', `the operation ${name} goes on without being watched`, {
    details: [
      `watch it again:  bke operation attach ${name}${where}`,
      `stop it:         bke operation cancel ${name}${where}`,
    ],
  });
}
