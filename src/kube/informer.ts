// Keeps what the cluster has of one kind at hand and tells every change: list, then watch, resumed after each break, until it is told to end.
import { backOffMs } from '../lib/back-off.ts';
import { BkeError } from '../lib/errors.ts';
import { toError } from '../lib/thrown.ts';
import { rest } from '../lib/rest.ts';
import type { KubeClient, KubeObject, ListOptions, ResourceKind, WatchEvent } from './client.ts';
import { kubeStatus } from './status-error.ts';

export interface InformerOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly kind: ResourceKind;
  readonly list?: ListOptions;
  /** Ends it; nothing else does. */
  readonly signal: AbortSignal;
  /** Told for each change, in order. Must not throw. */
  readonly onChange: (change: Change) => void;
}

export type Change =
  | { readonly type: 'added'; readonly object: KubeObject }
  | { readonly type: 'changed'; readonly object: KubeObject; readonly before: KubeObject }
  /** As it was last seen. */
  | { readonly type: 'deleted'; readonly object: KubeObject };

export interface InformerState {
  /** Since when the copy follows the cluster; undefined while it does not (yet, or contact was lost). */
  readonly syncedSince: Date | undefined;
  /** Why it did not follow last; kept after it does again. */
  readonly lastError:
    | {
        readonly at: Date;
        readonly message: string;
        /** The server does not know the kind. */
        readonly unknownKind: boolean;
      }
    | undefined;
  /** How long ago the server last said anything of it: a list, an event, a bookmark; undefined before. */
  readonly silentMs: number | undefined;
}

export interface Informer {
  get(name: string, namespace?: string): KubeObject | undefined;
  items(): readonly KubeObject[];
  state(): InformerState;
  /** Done when the first list was told. @throws the signal's reason where it is aborted first */
  synced(): Promise<void>;
  /** Done when it has ended: after the signal, with no more changes told. */
  readonly ended: Promise<void>;
}

export interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** As client-go's reflector. */
const defaultBackOff: BackOff = { firstMs: 800, mostMs: 30_000 };
/** A watch that held so long was a good one: the next break is a new one. */
const goodMs = 10_000;

export function startInformer(options: InformerOptions, backOff = defaultBackOff): Informer {
  return new Reflector(options, backOff);
}

class Reflector implements Informer {
  readonly #options: InformerOptions;
  readonly #backOff: BackOff;
  readonly #objects = new Map<string, KubeObject>();
  readonly #firstSync = Promise.withResolvers<void>();
  #state: Omit<InformerState, 'silentMs'> = { syncedSince: undefined, lastError: undefined };
  /** When, by the monotonic clock. */
  #heard: number | undefined;
  /** Where the next watch begins; undefined: list first. */
  #version: string | undefined;
  readonly ended: Promise<void>;

  constructor(options: InformerOptions, backOff: BackOff) {
    this.#options = options;
    this.#backOff = backOff;
    this.#firstSync.promise.catch(() => undefined);
    this.ended = this.#run();
  }

  get(name: string, namespace?: string): KubeObject | undefined {
    return this.#objects.get(keyText(name, namespace));
  }

  items(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  state(): InformerState {
    return { ...this.#state, silentMs: this.#heard === undefined ? undefined : performance.now() - this.#heard };
  }

  synced(): Promise<void> {
    return this.#firstSync.promise;
  }

  async #run(): Promise<void> {
    const { signal } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const started = performance.now();
      try {
        await this.#follow();
      } catch (thrown) {
        this.#lost(thrown);
      }
      failures = performance.now() - started > goodMs ? 0 : failures + 1;
      // Also after a watch that the server ended at once: nothing may turn into a stream of requests.
      if (failures > 0) await this.#wait(failures);
    }
    this.#state = { ...this.#state, syncedSince: undefined };
    this.#firstSync.reject(signal.reason);
  }

  /** Until the watch ends. */
  async #follow(): Promise<void> {
    const { client, kind, list, signal } = this.#options;
    if (this.#version === undefined) {
      const { items, resourceVersion } = await client.list(kind, list);
      if (signal.aborted) return;
      this.#replace(items);
      this.#version = resourceVersion;
      this.#follows();
      this.#firstSync.resolve();
    }
    for await (const event of client.watch(kind, { ...list, resourceVersion: this.#version, signal })) {
      if (signal.aborted) return;
      this.#follows();
      this.#take(event);
    }
  }

  #follows(): void {
    this.#heard = performance.now();
    if (this.#state.syncedSince === undefined) this.#state = { ...this.#state, syncedSince: new Date() };
  }

  #lost(thrown: unknown): void {
    if (this.#options.signal.aborted) return;
    const resumable = thrown instanceof BkeError && thrown.code === 'BKE_KUBE_UNREACHABLE';
    // The server has forgotten that version, or says nothing of where a watch could go on.
    if (!resumable) this.#version = undefined;
    this.#state = { syncedSince: undefined, lastError: errorOf(thrown) };
  }

  async #wait(failures: number): Promise<void> {
    const { firstMs, mostMs } = this.#backOff;
    const { signal } = this.#options;
    await rest(backOffMs(failures, firstMs, mostMs), signal);
  }

  #take(event: WatchEvent): void {
    if (event.type === 'BOOKMARK') {
      this.#version = event.resourceVersion;
      return;
    }
    const { object, type } = event;
    this.#version = object.metadata.resourceVersion ?? this.#version;
    if (type === 'DELETED') this.#remove(object);
    else this.#put(object);
  }

  #put(object: KubeObject): void {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    // Deleted and made anew while nobody watched: two things, not a change.
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) this.#remove(before);
    this.#objects.set(key, object);
    if (before === undefined || before.metadata.uid !== object.metadata.uid) {
      this.#options.onChange({ type: 'added', object });
    } else if (before.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#options.onChange({ type: 'changed', object, before });
    }
  }

  #remove(object: KubeObject): void {
    if (this.#objects.delete(keyOf(object))) this.#options.onChange({ type: 'deleted', object });
  }

  /** What a list has is all there is. */
  #replace(items: readonly KubeObject[]): void {
    const there = new Set(items.map(keyOf));
    for (const [key, object] of this.#objects) if (!there.has(key)) this.#remove(object);
    for (const item of items) this.#put(item);
  }
}

function keyOf({ metadata }: KubeObject): string {
  return keyText(metadata.name, metadata.namespace);
}

function keyText(name: string, namespace = ''): string {
  return `${namespace}/${name}`;
}

function errorOf(thrown: unknown): NonNullable<InformerState['lastError']> {
  const unknownKind = kubeStatus(thrown)?.reason === 'NoSuchKind';
  return { at: new Date(), message: toError(thrown).message, unknownKind };
}
