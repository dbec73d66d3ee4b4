// The client: what is asked of the API, as requests to the right paths.
import { BkeError } from '../lib/errors.ts';
import { createRedactor } from '../lib/redact.ts';
import { tryJson } from '../lib/try-json.ts';
import type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectKey,
  ObjectList,
  PatchOptions,
  RequestOptions,
  ResourceKind,
  WatchEvent,
} from './client.ts';
import type { KubeConnection } from './connection.ts';
import { Discovery, type Resource } from './discovery.ts';
import type { Fence } from './fence.ts';
import { fieldAt, isKubeObject, keyOf, listAt, textAt } from './fields.ts';
import { type Answer, type Ask, Requester } from './requester.ts';
import { kubeStatus, noSuchKind, statusError } from './status-error.ts';
import { watchEvents } from './watch.ts';

/** @param fence whatever is no mere reading is sent only where it lets it through */
export function createKubeClient(connection: KubeConnection, fence?: Fence): KubeClient {
  return new Client(connection, fence);
}

/** Objects per answer of a list. */
const pageSize = 500;
/** To the API: everything in one answer. */
const wholeList = 0;
/** How long a watch stays open at least; up to double, so that many don't come back together. */
const watchSeconds = 300;

type Query = Readonly<Record<string, string | undefined>>;

/** What an object or kind is asked for, once its path is known. */
interface Target {
  readonly path: string;
  /** 'get deployments.apps bke/x', for messages */
  readonly what: string;
}

class Client implements KubeClient {
  readonly #requester: Requester;
  readonly #discovery: Discovery;

  constructor(connection: KubeConnection, fence: Fence | undefined) {
    this.#requester = new Requester(connection, fence);
    this.#discovery = new Discovery((path) => this.#readResources(path));
  }

  async get(key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#unlessMissing(
      this.#onObject('get', key, ({ path, what }) => this.#object({ method: 'GET', path }, what)),
    );
  }

  async list(kind: ResourceKind, options: ListOptions = {}): Promise<ObjectList> {
    try {
      return await this.#allPages(kind, options);
    } catch (thrown) {
      // The pages after the first one have come too late; a list in one piece can't.
      if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_KUBE_EXPIRED') throw thrown;
      return this.#allPages(kind, options, wholeList);
    }
  }

  async create(object: KubeObject): Promise<KubeObject> {
    return this.#onKind('create', object, async (resource) => {
      const what = `create ${resource.name} ${nameOf(resource, object.metadata)}`;
      const path = collectionPath(resource, object.metadata.namespace ?? 'default');
      return this.#object({ method: 'POST', path, body: object }, what);
    });
  }

  async apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    // The server keeps these itself and refuses an apply that has them.
    const { managedFields: _, ...metadata } = object.metadata;
    const query = {
      fieldManager: options.fieldManager,
      force: options.force === true ? 'true' : undefined,
      dryRun: options.dryRun === true ? 'All' : undefined,
    };
    return this.#onObject('apply', keyOf(object), ({ path, what }) =>
      this.#object(
        {
          method: 'PATCH',
          path: `${path}${subresource(options.subresource)}${queryText(query)}`,
          body: { ...object, metadata },
          contentType: 'application/apply-patch+yaml',
        },
        what,
      ),
    );
  }

  async patch(key: ObjectKey, patch: unknown, options: PatchOptions): Promise<KubeObject> {
    return this.#onObject('patch', key, ({ path, what }) =>
      this.#object(
        {
          method: 'PATCH',
          path: `${path}${subresource(options.subresource)}${queryText({ fieldManager: options.fieldManager })}`,
          body: patch,
          contentType: `application/${options.type === 'json' ? 'json-patch' : 'merge-patch'}+json`,
        },
        what,
      ),
    );
  }

  async delete(key: ObjectKey, { propagation, uid, resourceVersion }: DeleteOptions = {}): Promise<boolean> {
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: propagation ?? 'Background',
      preconditions: { uid, resourceVersion },
    };
    const deleted = this.#onObject('delete', key, ({ path, what }) =>
      this.#object({ method: 'DELETE', path, body }, what),
    );
    return (await this.#unlessMissing(deleted)) !== undefined;
  }

  async *watch(
    kind: ResourceKind,
    options: ListOptions & { readonly resourceVersion: string; readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent> {
    const resource = await this.#resource('watch', kind);
    const query = {
      ...selectors(options),
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: options.resourceVersion,
      timeoutSeconds: String(Math.round(watchSeconds * (1 + Math.random()))),
    };
    const path = `${collectionPath(resource, options.namespace)}${queryText(query)}`;
    const { resourceVersion, signal } = options;
    yield* watchEvents(this.#requester, { path, what: `watch ${resource.name}`, resourceVersion, signal });
  }

  async request(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    options: RequestOptions = {},
  ): Promise<unknown> {
    const answer = await this.#accepted({ method, path, ...options }, `${method} ${path.split('?')[0] ?? ''}`);
    return answer.contentType.startsWith('application/json') ? tryJson(answer.text) : answer.text;
  }

  close(): void {
    this.#requester.close();
  }

  async #allPages(kind: ResourceKind, options: ListOptions, limit = pageSize): Promise<ObjectList> {
    const items: KubeObject[] = [];
    let next: string | undefined;
    for (;;) {
      const page = await this.#onKind('list', kind, async (resource) => {
        const query = { ...selectors(options), limit: String(limit), continue: next };
        const path = `${collectionPath(resource, options.namespace)}${queryText(query)}`;
        return this.#object({ method: 'GET', path }, `list ${resource.name}`);
      });
      // Objects of a list come without what the list says already.
      for (const item of listAt(page, 'items')) {
        const object = { ...(typeof item === 'object' ? item : {}), apiVersion: kind.apiVersion, kind: kind.kind };
        if (isKubeObject(object)) items.push(object);
      }
      next = textAt(page, 'metadata', 'continue');
      if (next === undefined) return { items, resourceVersion: page.metadata.resourceVersion ?? '' };
    }
  }

  async #readResources(path: string): Promise<unknown> {
    const answer = await this.#requester.ask({ method: 'GET', path });
    if (answer.status === 404) return undefined;
    return tryJson(accepted(answer, `look up ${path}`).text);
  }

  async #resource(verb: string, kind: ResourceKind): Promise<Resource> {
    const found = await this.#discovery.find(kind);
    if (found === undefined) throw noSuchKind(`${verb} ${kind.kind}`, `${kind.kind} of ${kind.apiVersion}`);
    return found;
  }

  /** What was known of a kind is asked anew where its path is gone: a definition can be made again in another form. */
  async #onKind<Result>(
    verb: string,
    kind: ResourceKind,
    work: (resource: Resource) => Promise<Result>,
  ): Promise<Result> {
    const resource = await this.#resource(verb, kind);
    try {
      return await work(resource);
    } catch (thrown) {
      const status = kubeStatus(thrown);
      // The server names a reason where only the object is missing.
      if (status?.status !== 404 || status.reason !== '') throw thrown;
      this.#discovery.forget(kind);
      return work(await this.#resource(verb, kind));
    }
  }

  async #onObject(verb: string, key: ObjectKey, work: (target: Target) => Promise<KubeObject>): Promise<KubeObject> {
    return this.#onKind(verb, key, (resource) =>
      work({
        path: `${collectionPath(resource, key.namespace ?? 'default')}/${encodeURIComponent(key.name)}`,
        what: `${verb} ${resource.name} ${nameOf(resource, key)}`,
      }),
    );
  }

  async #unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
    try {
      return await work;
    } catch (thrown) {
      if (kubeStatus(thrown)?.status === 404) return undefined;
      throw thrown;
    }
  }

  async #object(ask: Ask, what: string): Promise<KubeObject> {
    const answer = await this.#accepted(ask, what);
    const object = tryJson(answer.text);
    if (isKubeObject(object)) return object;
    throw new BkeError('BKE_KUBE_FAILED', `${what}: the answer is no object of Kubernetes`);
  }

  async #accepted(ask: Ask, what: string): Promise<Answer> {
    return accepted(await this.#requester.ask(ask), what, secretsOf(ask.body));
  }
}

/** @param secrets what was sent and must not come back in a message */
function accepted(answer: Answer, what: string, secrets: readonly string[] = []): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw statusError({ what, status: answer.status, body: createRedactor(secrets)(answer.text) });
}

/** A refusal can repeat a piece of what it refuses. */
function secretsOf(body: unknown): string[] {
  return ['data', 'stringData'].flatMap((field) =>
    Object.values(fieldAt(body, field) ?? {}).filter((value) => typeof value === 'string'),
  );
}

function nameOf(
  { namespaced }: Resource,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
): string {
  return namespaced ? `${namespace ?? 'default'}/${name}` : name;
}

/** Without a namespace: the objects of all of them. */
function collectionPath({ root, plural, namespaced }: Resource, namespace: string | undefined): string {
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}`;
}

function subresource(name: string | undefined): string {
  return name === undefined ? '' : `/${name}`;
}

function selectors({ labelSelector, fieldSelector }: ListOptions): Query {
  return { labelSelector, fieldSelector };
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
