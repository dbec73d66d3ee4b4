// A cluster in memory: what is applied is there, what is there already does not change.
import { isDeepStrictEqual } from 'node:util';
import { BkeError } from '../../src/lib/errors.ts';
import type {
  ApplyOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectKey,
  ObjectList,
  ResourceKind,
} from '../../src/kube/client.ts';

type Asked = 'get' | 'list' | 'create' | 'apply' | 'patch' | 'delete' | 'request' | 'close';

function keyText({ apiVersion, kind, namespace = '', name }: ObjectKey): string {
  return [apiVersion, kind, namespace, name].join(' ');
}

function keyOf({ apiVersion, kind, metadata }: KubeObject): ObjectKey {
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Told apart by their types, as the definitions of bke's kinds say. */
function isConditions(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every((item) => isPlain(item) && 'lastTransitionTime' in item);
}

/** Fields that are not named stay. */
function merged(now: unknown, wanted: unknown): unknown {
  if (isConditions(now) && isConditions(wanted)) {
    return [...now.filter(({ type }) => wanted.every((other) => other['type'] !== type)), ...wanted];
  }
  if (!isPlain(now) || !isPlain(wanted)) return wanted;
  return {
    ...now,
    ...Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, merged(now[name], value)])),
  };
}

/** RFC 7396: null takes a field away. */
function mergePatched(now: unknown, patch: unknown): unknown {
  if (!isPlain(patch)) return patch;
  const fields = new Map(isPlain(now) ? Object.entries(now) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, mergePatched(fields.get(name), value));
  }
  return Object.fromEntries(fields);
}

export class FakeCluster implements Pick<KubeClient, Asked> {
  readonly #objects = new Map<string, KubeObject>();
  #version = 0;
  /** What every request fails with. */
  failure: Error | undefined;
  /** Keys of objects that were written or deleted, in order. */
  readonly writes: string[] = [];

  /** As somebody else would put it there. */
  put(...objects: KubeObject[]): void {
    for (const object of objects) this.#objects.set(keyText(keyOf(object)), this.#stamped(object));
  }

  /** Everything else of a client is a mistake of the test. */
  client(): KubeClient {
    const refuse = (): never => {
      throw new Error('the fake cluster does not do that');
    };
    return {
      get: (key) => this.get(key),
      list: (kind, options) => this.list(kind, options),
      create: (object) => this.create(object),
      apply: (object, options) => this.apply(object, options),
      patch: (key, patch) => this.patch(key, patch),
      delete: (key) => this.delete(key),
      request: (_method, path) => this.request(path),
      close: () => this.close(),
      watch: refuse,
    };
  }

  /** All that is there, at once: what an informer would show. */
  objects({ apiVersion, kind }: ResourceKind): KubeObject[] {
    return [...this.#objects.values()].filter((object) => object.apiVersion === apiVersion && object.kind === kind);
  }

  async get(key: ObjectKey): Promise<KubeObject | undefined> {
    this.#answer();
    return this.#objects.get(keyText(key));
  }

  /** Selectors are not looked at: a test puts in what they would choose. */
  async list({ apiVersion, kind }: ResourceKind, { namespace }: ListOptions = {}): Promise<ObjectList> {
    this.#answer();
    const items = [...this.#objects.values()].filter(
      (object) => object.apiVersion === apiVersion && object.kind === kind,
    );
    return {
      items: items.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
      resourceVersion: String(this.#version),
    };
  }

  async create(object: KubeObject): Promise<KubeObject> {
    this.#answer();
    const key = keyText(keyOf(object));
    if (this.#objects.has(key)) throw new BkeError('BKE_KUBE_CONFLICT', `${key} already exists`);
    const stored = this.#stamped({ ...object, metadata: { uid: `uid-${this.#version}`, ...object.metadata } });
    this.#objects.set(key, stored);
    this.writes.push(`create ${key}`);
    return stored;
  }

  async apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    this.#answer();
    const key = keyText(keyOf(object));
    const now = this.#objects.get(key);
    const then = { ...object, ...(now === undefined ? {} : Object(merged(now, object))) };
    if (now !== undefined && isDeepStrictEqual(now, then)) return now;
    if (options.dryRun === true) return then;
    const stored = this.#stamped(then);
    this.#objects.set(key, stored);
    this.writes.push(`apply ${key}`);
    return stored;
  }

  /** A merge patch; refused where it names another version of the object than there is. */
  async patch(key: ObjectKey, patch: unknown): Promise<KubeObject> {
    this.#answer();
    const now = this.#objects.get(keyText(key));
    if (now === undefined) throw new Error(`there is no ${keyText(key)}`);
    const metadata: unknown = isPlain(patch) ? patch['metadata'] : undefined;
    const version = isPlain(metadata) ? metadata['resourceVersion'] : undefined;
    if (version !== undefined && version !== now.metadata.resourceVersion) {
      throw new BkeError('BKE_KUBE_CONFLICT', `${keyText(key)} was changed meanwhile`);
    }
    const stored = this.#stamped({ ...key, metadata: now.metadata, ...Object(mergePatched(now, patch)) });
    this.#objects.set(keyText(key), stored);
    this.writes.push(`patch ${keyText(key)}`);
    return stored;
  }

  async delete(key: ObjectKey): Promise<boolean> {
    this.#answer();
    this.writes.push(`delete ${keyText(key)}`);
    return this.#objects.delete(keyText(key));
  }

  async request(_path: string): Promise<unknown> {
    this.#answer();
    return 'ok';
  }

  close(): void {
    // Nothing is open.
  }

  #answer(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  #stamped(object: KubeObject): KubeObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }
}
