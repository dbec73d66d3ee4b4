// Everything that could be asked of an API server with a token, and what is not refused.
import { Agent, request } from 'node:https';
import type { KubeClient } from '../../../src/kube/client.ts';
import { fieldAt, listAt, textAt } from '../../../src/kube/fields.ts';
import { createLimit } from '../../../src/lib/limit.ts';

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
}

interface Resource {
  /** e.g. /apis/bke.io/v1alpha1 */
  readonly root: string;
  /** e.g. hostcommands, hostcommands/status */
  readonly name: string;
  readonly namespaced: boolean;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Objects of these are named after hosts. */
const ofHosts = ['hostcommands', 'bkehosts', 'secrets', 'serviceaccounts', 'leases', 'roles', 'rolebindings'];

/** Every method on every resource and subresource that there is in the namespace; reading in another one and across all as well. */
export async function everyRequest(
  client: Pick<KubeClient, 'request'>,
  { namespace, names }: { readonly namespace: string; readonly names: readonly string[] },
): Promise<Asked[]> {
  const resources = await everyResource(client);
  return resources.flatMap(({ root, name, namespaced }) => {
    const [plural = '', ...sub] = name.split('/');
    const base = namespaced ? `${root}/namespaces/${namespace}` : root;
    const named = ofHosts.includes(plural) ? names : names.slice(0, 1);
    const objects = named.map((one) => [`${base}/${plural}/${one}`, ...sub].join('/'));
    if (sub.length > 0) return asked(objects, methods);
    const reading = namespaced ? [`${root}/${plural}`, `${root}/namespaces/kube-system/${plural}`] : [];
    const collection = `${base}/${plural}`;
    return [
      ...asked([...reading, `${collection}?watch=1&timeoutSeconds=1`], ['GET']),
      ...asked([collection], methods),
      // An object is made by its collection.
      ...asked(
        objects,
        methods.filter((method) => method !== 'POST'),
      ),
    ];
  });
}

function asked(paths: readonly string[], all: readonly Asked['method'][]): Asked[] {
  return paths.flatMap((path) => all.map((method) => ({ method, path })));
}

async function everyResource(client: Pick<KubeClient, 'request'>): Promise<Resource[]> {
  const groups = listAt(await client.request('GET', '/apis'), 'groups');
  const versions = groups.flatMap((group) => listAt(group, 'versions').map((one) => textAt(one, 'groupVersion') ?? ''));
  const roots = ['/api/v1', ...versions.map((version) => `/apis/${version}`)];
  const found = await Promise.all(
    roots.map(async (root) =>
      listAt(await client.request('GET', root), 'resources').map((resource) => ({
        root,
        name: textAt(resource, 'name') ?? '',
        namespaced: fieldAt(resource, 'namespaced') === true,
      })),
    ),
  );
  return found.flat();
}

export interface Bearer {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** Those that are answered with anything but 403, as `GET /path`. */
export async function notForbidden(
  all: readonly Asked[],
  { url, ca, token }: Bearer,
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca });
  const status = ({ method, path }: Asked): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const more = { authorization: `Bearer ${token}`, 'content-type': type, ...headers };
    const asking = request(new URL(path, url), { method, agent, headers: more }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    asking.once('error', reject);
    asking.end(method === 'GET' || method === 'DELETE' ? undefined : '{}');
    return promise;
  };
  const limit = createLimit(16);
  const found = await Promise.all(
    all.map(async (asked) => ((await limit(() => status(asked))) === 403 ? [] : [`${asked.method} ${asked.path}`])),
  );
  agent.destroy();
  return found.flat().toSorted();
}
