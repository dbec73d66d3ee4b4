// What applying objects as `bke init` would change, for a dry run.
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject, ObjectKey } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';

export const fieldManager = 'bke-init';

type ApplyClient = Pick<KubeClient, 'get' | 'apply'>;

/** Those that an apply would make or change. */
export async function pendingOf(client: ApplyClient, objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
  const pending: KubeObject[] = [];
  for (const object of objects) {
    const before = await client.get(keyOf(object));
    if (before === undefined || !(await staysSame(client, object, before))) pending.push(object);
  }
  return pending;
}

async function staysSame(client: ApplyClient, object: KubeObject, before: KubeObject): Promise<boolean> {
  try {
    const after = await client.apply(object, { fieldManager, force: true, dryRun: true });
    return isDeepStrictEqual(ownPart(before), ownPart(after));
  } catch (thrown) {
    // It would fail, or its kind is not there yet: not the same in either case, and the real run tells why.
    if (thrown instanceof BkeError) return false;
    throw thrown;
  }
}

/** Without what the server and controllers keep in it. */
function ownPart({ metadata, status: _status, ...rest }: KubeObject): object {
  const { managedFields: _fields, generation: _generation, resourceVersion: _version, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

export function keyOf({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): ObjectKey {
  return { apiVersion, kind, namespace, name };
}
