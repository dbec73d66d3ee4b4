// Informers that controllers share: what several want to know of is listed, watched and kept once.
import type { KubeClient, KubeObject, ListOptions, ObjectList, ResourceKind, WatchEvent } from '../kube/client.ts';
import { type Informer, type InformerState, startInformer } from '../kube/informer.ts';

/** What is watched. */
export interface Source extends ResourceKind, ListOptions {
  /** Keeps only that it is there and in which version: for large objects of which no more is asked. */
  readonly metadataOnly?: boolean;
}

/** Told of each change in order; `there` is false where the object is gone. Must not throw. */
export type ChangeHandler = (object: KubeObject, there: boolean) => void;

/** What the cluster had when it was last heard of. */
export interface ObjectView {
  get(name: string, namespace?: string): KubeObject | undefined;
  items(): readonly KubeObject[];
}

export interface Informers {
  watch(source: Source, onChange: ChangeHandler): ObjectView;
}

type InformerClient = Pick<KubeClient, 'list' | 'watch'>;

export class SharedInformers implements Informers {
  readonly #shared = new Map<string, Shared>();

  watch(source: Source, onChange: ChangeHandler): ObjectView {
    const name = sourceName(source);
    const shared = this.#shared.get(name) ?? new Shared(name, source);
    this.#shared.set(name, shared);
    shared.handlers.push(onChange);
    return shared;
  }

  /** Begins to watch; what is asked for later is not. @param signal ends it */
  start(client: InformerClient, signal: AbortSignal): void {
    for (const shared of this.#shared.values()) shared.start(client, signal);
  }

  /** Done when all that is there was told. @throws the signal's reason where it is aborted first */
  async synced(): Promise<void> {
    const informers = [...this.#shared.values()].flatMap(({ informer }) => informer ?? []);
    await Promise.all(informers.map((informer) => informer.synced()));
  }

  states(): readonly SourceState[] {
    return [...this.#shared.values()].map((shared) => shared.state());
  }

  /** What is not in step with the cluster, with the reason where there is one. */
  behind(): readonly string[] {
    return [...this.#shared.values()].flatMap((shared) => shared.behind() ?? []);
  }
}

/** How a source is followed. */
export interface SourceState {
  readonly name: string;
  readonly synced: boolean;
  readonly objects: number;
  /** Since the server last said anything of it. */
  readonly silentMs: number | undefined;
  /** The last one, where it is not in step. */
  readonly error: string | undefined;
}

class Shared implements ObjectView {
  readonly handlers: ChangeHandler[] = [];
  informer: Informer | undefined;
  readonly #name: string;
  readonly #source: Source;

  constructor(name: string, source: Source) {
    this.#name = name;
    this.#source = source;
  }

  start(client: InformerClient, signal: AbortSignal): void {
    const { apiVersion, kind, metadataOnly = false, ...list } = this.#source;
    this.informer = startInformer({
      client: metadataOnly ? metadataClient(client) : client,
      kind: { apiVersion, kind },
      list,
      signal,
      onChange: ({ type, object }) => {
        for (const handler of this.handlers) handler(object, type !== 'deleted');
      },
    });
  }

  get(name: string, namespace?: string): KubeObject | undefined {
    return this.informer?.get(name, namespace);
  }

  items(): readonly KubeObject[] {
    return this.informer?.items() ?? [];
  }

  state(): SourceState {
    const { syncedSince, lastError, silentMs } = this.informer?.state() ?? {};
    const synced = syncedSince !== undefined;
    const error = synced || lastError === undefined ? undefined : wordsOf(lastError);
    return { name: this.#name, synced, objects: this.items().length, silentMs, error };
  }

  behind(): string | undefined {
    const { synced, name, error } = this.state();
    if (synced) return undefined;
    return error === undefined ? name : `${name} (${error})`;
  }
}

/** Nothing begins before all kinds are there: who looks has to learn how they come. */
function wordsOf({ message, unknownKind }: NonNullable<InformerState['lastError']>): string {
  return unknownKind ? `${message}: 'bke init' on the bootstrap node puts its definition there` : message;
}

/** e.g. `Secret in bke-system, metadata.name=x` */
function sourceName({ kind, namespace, labelSelector, fieldSelector, metadataOnly }: Source): string {
  const place = namespace === undefined ? kind : `${kind} in ${namespace}`;
  return [place, labelSelector, fieldSelector, metadataOnly === true ? 'metadata' : undefined]
    .filter((part) => part !== undefined)
    .join(', ');
}

function metadataClient(client: InformerClient): InformerClient {
  return {
    list: async (kind, options): Promise<ObjectList> => {
      const { items, resourceVersion } = await client.list(kind, options);
      return { items: items.map(metadataOf), resourceVersion };
    },
    watch: async function* (kind, options): AsyncGenerator<WatchEvent> {
      for await (const event of client.watch(kind, options)) {
        yield event.type === 'BOOKMARK' ? event : { type: event.type, object: metadataOf(event.object) };
      }
    },
  };
}

function metadataOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { managedFields: _, ...kept } = metadata;
  return { apiVersion, kind, metadata: kept };
}
