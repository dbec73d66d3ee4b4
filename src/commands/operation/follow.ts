// Watches an operation of a cluster to its end, and shows its events as those of any operation. Who stops watching stops nothing.
import { clusterCommand } from '../../controllers/bkeoperation/next-commands.ts';
import { operationKind } from '../../controllers/cluster-objects.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationEvent } from '../../api/events.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { type InformerState, startInformer } from '../../kube/informer.ts';
import { textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext } from '../context.ts';
import { AtWork } from './at-work.ts';
import { Held } from './held.ts';
import { throwUnlessDone } from './outcome.ts';
import { ringEvents } from './ring-events.ts';

export interface Followed {
  readonly namespace: string;
  readonly name: string;
}

/** How long contact with the management cluster may be lost. */
export interface Patience {
  /** A moment is nothing to tell. */
  readonly toldMs: number;
  /** Nobody is to wait in vain. */
  readonly mostMs: number;
}

const defaultPatience: Patience = { toldMs: 10_000, mostMs: 5 * 60_000 };
const backOff = { firstMs: 500, mostMs: 5000 } as const;

/** A controller takes an operation up within seconds; one that is just being updated needs longer. */
const untoldMs = 20_000;
const untakenMs = 5 * 60_000;
const tickMs = 500;

export type FollowClient = Pick<KubeClient, 'get' | 'list' | 'watch'>;

/**
 * @throws what the operation failed with; BKE_DETACHED where the person stops watching; BKE_TIMEOUT where no controller takes it up or is at work; BKE_KUBE_UNREACHABLE where
 * the management cluster does not answer for minutes; BKE_CLUSTER_PAUSED where nothing goes on for minutes because of that; BKE_OPERATION_UNKNOWN where it is gone
 */
export async function follow(
  context: CommandContext,
  client: FollowClient,
  followed: Followed,
  patience = defaultPatience,
): Promise<void> {
  const { name, namespace } = followed;
  const ended = new AbortController();
  const watched = new Watched(context);
  context.onStop('');
  const informer = startInformer(
    {
      client,
      kind: operationKind,
      list: { namespace, fieldSelector: `metadata.name=${name}` },
      signal: ended.signal,
      onChange: ({ type, object }) => watched.see(type === 'deleted' ? undefined : object),
    },
    backOff,
  );
  try {
    const contact = new Contact(context, followed, { patience, state: () => informer.state() });
    const held = new Held(context, client, { mostMs: patience.mostMs });
    const atWork = new AtWork(context, client);
    const finished = await untilFinished(context, watched, { followed, contact, held, atWork });
    throwUnlessDone(finished);
  } finally {
    ended.abort();
    await informer.ended;
  }
}

type Finished = Extract<OperationEvent, { type: 'operation.finished' }>;

class Watched {
  finished: Finished | undefined;
  /** As it was last seen. */
  object: KubeObject | undefined;
  taken = false;
  gone = false;
  #seq = 0;
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  see(object: KubeObject | undefined): void {
    this.gone = object === undefined;
    this.object = object ?? this.object;
    if (object === undefined) return;
    for (const event of ringEvents(object, this.#seq)) {
      this.#seq = event.seq;
      this.taken = true;
      this.#context.events(event);
      if (event.type === 'operation.finished') this.finished = event;
    }
  }
}

/** Whether the management cluster answers. */
class Contact {
  readonly #context: CommandContext;
  readonly #followed: Followed;
  readonly #patience: Patience;
  readonly #state: () => InformerState;
  #lostAt: number | undefined;
  #told = false;

  constructor(
    context: CommandContext,
    followed: Followed,
    { patience, state }: { readonly patience: Patience; readonly state: () => InformerState },
  ) {
    this.#context = context;
    this.#followed = followed;
    this.#patience = patience;
    this.#state = state;
  }

  /** Why it did not answer last. */
  get trouble(): string | undefined {
    return this.#state().lastError?.message;
  }

  /** Tells once that it is lost, and that it is back. @throws BkeError BKE_KUBE_UNREACHABLE */
  look(): void {
    const { syncedSince, lastError } = this.#state();
    if (syncedSince !== undefined || lastError === undefined) return this.#isBack();
    this.#lostAt ??= performance.now();
    const lost = performance.now() - this.#lostAt;
    if (lost >= this.#patience.toldMs && !this.#told) {
      this.#told = true;
      this.#context.note(
        `warning: the management cluster does not answer (${lastError.message}); the operation goes on when it is back, and is watched on`,
      );
    }
    if (lost >= this.#patience.mostMs) throw this.#gaveUp(lost, lastError.message);
  }

  #isBack(): void {
    if (this.#told) this.#context.note('The management cluster answers again.');
    this.#lostAt = undefined;
    this.#told = false;
  }

  #gaveUp(lostForMs: number, cause: string): BkeError {
    const { name } = this.#followed;
    return new BkeError(
      'BKE_KUBE_UNREACHABLE',
      `the management cluster has not answered for ${formatDuration(lostForMs)}: ${cause}`,
      {
        hint: `When it does, 'bke operation attach ${name}' shows how the operation gets on.`,
      },
    );
  }
}

interface Waiting {
  readonly followed: Followed;
  readonly contact: Contact;
  readonly held: Held;
  readonly atWork: AtWork;
}

async function untilFinished(
  context: CommandContext,
  watched: Watched,
  { followed, contact, held, atWork }: Waiting,
): Promise<Finished> {
  const untaken = new Untaken(context, followed);
  for (;;) {
    if (watched.finished !== undefined) return watched.finished;
    if (watched.gone) throw goneError(followed, watched.object);
    if (context.signal.aborted) throw detached(followed);
    contact.look();
    atWork.look(followed.name);
    if (held.look(watched.object) !== undefined) untaken.beginAnew();
    else if (!watched.taken) untaken.look(contact.trouble ?? atWork.trouble);
    await sleep(tickMs, undefined, { signal: context.signal }).catch(() => undefined);
  }
}

/** While no controller has taken it up. */
class Untaken {
  readonly #context: CommandContext;
  readonly #name: string;
  #began = performance.now();
  #told = false;

  constructor(context: CommandContext, { name }: Followed) {
    this.#context = context;
    this.#name = name;
  }

  /** While its cluster is paused no controller has to. */
  beginAnew(): void {
    this.#began = performance.now();
  }

  /** Tells once that it lasts. @throws BkeError BKE_TIMEOUT */
  look(trouble: string | undefined): void {
    const waited = performance.now() - this.#began;
    if (waited > untoldMs && !this.#told) {
      this.#told = true;
      this.#context.note(untakenWords(waited, trouble));
    }
    if (waited <= untakenMs) return;
    throw new BkeError('BKE_TIMEOUT', untakenWords(waited, trouble), {
      hint: `When it does, 'bke operation attach ${this.#name}' shows how it gets on.`,
    });
  }
}

function goneError({ namespace, name }: Followed, last: KubeObject | undefined): BkeError {
  const cluster = textAt(last, 'spec', 'target', 'name');
  const describe =
    cluster === undefined
      ? ''
      : `, '${clusterCommand({ namespace, name: cluster }, 'describe')}' what became of the cluster`;
  return new BkeError('BKE_OPERATION_UNKNOWN', `the operation ${name} is not there any more: somebody has deleted it`, {
    hint: `'bke operation list' shows those that are there${describe}.`,
  });
}

function untakenWords(waitedMs: number, trouble: string | undefined): string {
  const why = trouble === undefined ? '' : ` (${trouble})`;
  return `no controller has taken the operation up for ${formatDuration(waitedMs)}${why}: does bke-controller-manager run in namespace bke-system?`;
}

function detached({ name }: Followed): BkeError {
  return new BkeError('BKE_DETACHED', `no longer watching; the operation ${name} goes on`, {
    details: [`watch it again:  bke operation attach ${name}`, `stop it:         bke operation cancel ${name}`],
  });
}
