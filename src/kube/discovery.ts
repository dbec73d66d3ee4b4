// From a kind to the path of its objects, as the API server itself tells it; remembered, and asked anew where a kind is not known yet.
import type { ResourceKind } from './client.ts';
import { fieldAt, listAt, textAt } from './fields.ts';

export interface Resource {
  /** /apis/apps/v1 */
  readonly root: string;
  /** deployments */
  readonly plural: string;
  readonly namespaced: boolean;
  /** deployments.apps, as messages name it */
  readonly name: string;
}

/** The APIResourceList at a path; undefined where the server has no such group or version. */
export type ReadResources = (path: string) => Promise<unknown>;

export class Discovery {
  readonly #read: ReadResources;
  /** Kinds of each apiVersion. */
  readonly #known = new Map<string, ReadonlyMap<string, Resource>>();

  constructor(read: ReadResources) {
    this.#read = read;
  }

  /** undefined where the server knows no such kind. */
  async find({ apiVersion, kind }: ResourceKind): Promise<Resource | undefined> {
    const known = this.#known.get(apiVersion)?.get(kind);
    if (known !== undefined) return known;
    const resources = kindsOf(apiVersion, await this.#read(rootOf(apiVersion)));
    this.#known.set(apiVersion, resources);
    return resources.get(kind);
  }

  /** The path of a known kind was not there: its definition is gone or was made anew. */
  forget({ apiVersion }: ResourceKind): void {
    this.#known.delete(apiVersion);
  }
}

function rootOf(apiVersion: string): string {
  const [group, version] = apiVersion.split('/').map(encodeURIComponent);
  return version === undefined ? `/api/${group ?? ''}` : `/apis/${group ?? ''}/${version}`;
}

function kindsOf(apiVersion: string, list: unknown): Map<string, Resource> {
  const found = new Map<string, Resource>();
  const root = rootOf(apiVersion);
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0] ?? ''}` : '';
  for (const entry of listAt(list, 'resources')) {
    const name = textAt(entry, 'name');
    const kind = textAt(entry, 'kind');
    // Subresources have a slash in their name; some have the kind of another group, e.g. Scale.
    if (name === undefined || kind === undefined || name.includes('/') || found.has(kind)) continue;
    found.set(kind, { root, plural: name, namespaced: fieldAt(entry, 'namespaced') === true, name: `${name}${group}` });
  }
  return found;
}
