// What bke asks of a Kubernetes API server: objects as plain JSON, server-side apply, watches. One client for CLI, tasks, controllers and agent.

/** An object as the API has it; unknown fields stay as they are. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly resourceVersion?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly [field: string]: unknown;
}

export interface ResourceKind {
  /** e.g. v1, apps/v1 */
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ObjectKey extends ResourceKind {
  /** Absent for objects that belong to no namespace. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ObjectList {
  readonly items: readonly KubeObject[];
  /** Where a watch begins that misses nothing. */
  readonly resourceVersion: string;
}

export interface ApplyOptions {
  /** Whose fields these are. */
  readonly fieldManager: string;
  /** Takes fields over that another manager has. Default false: a conflict is an error. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly subresource?: 'status';
}

export interface PatchOptions {
  /** JSON merge patch (RFC 7396) or JSON patch (RFC 6902). */
  readonly type: 'merge' | 'json';
  readonly fieldManager: string;
  readonly subresource?: 'status' | 'scale';
}

export interface DeleteOptions {
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface RequestOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  /** Default 30 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * @throws BkeError BKE_KUBE_UNREACHABLE where no server answers, BKE_KUBE_FORBIDDEN, BKE_KUBE_CONFLICT, BKE_KUBE_REFUSED (validation, a webhook's
 * word), BKE_KUBE_FAILED for every other answer; each with the server's own message.
 */
export interface KubeClient {
  /** undefined where there is no such object, or no such kind. */
  get(key: ObjectKey): Promise<KubeObject | undefined>;
  list(kind: ResourceKind, options?: ListOptions): Promise<ObjectList>;
  create(object: KubeObject): Promise<KubeObject>;
  /** Server-side apply. */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  patch(key: ObjectKey, patch: unknown, options: PatchOptions): Promise<KubeObject>;
  /** false where it was not there. */
  delete(key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /**
   * Ends when the server ends it or `signal` aborts. The first event is a bookmark of `resourceVersion`: the server has taken the watch.
   * @throws BkeError BKE_KUBE_EXPIRED where `resourceVersion` is too old; as above where the watch breaks off
   */
  watch(
    kind: ResourceKind,
    options: ListOptions & { readonly resourceVersion: string; readonly signal: AbortSignal },
  ): AsyncIterable<WatchEvent>;
  /** Any other path: `/readyz`, `/version`, a token request. JSON where the answer is JSON, else its text. */
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, options?: RequestOptions): Promise<unknown>;
  close(): void;
}
