// What an apply would change, asked of the server itself, which fills in what a manifest leaves open. Nothing is stored.
import { BkeError } from '../lib/errors.ts';
import { appliedForm, sameContent } from './apply.ts';
import type { KubeClient, KubeObject } from './client.ts';
import { keyOf } from './fields.ts';

type ApplyClient = Pick<KubeClient, 'get' | 'apply'>;

/** Those of the objects that an apply with force would make or change. */
export async function pendingOf(
  client: ApplyClient,
  objects: readonly KubeObject[],
  fieldManager: string,
): Promise<readonly KubeObject[]> {
  const pending: KubeObject[] = [];
  for (const object of objects) {
    const before = await client.get(keyOf(object));
    if (before === undefined || !(await staysSame(client, { object, before, fieldManager }))) pending.push(object);
  }
  return pending;
}

interface Question {
  readonly object: KubeObject;
  readonly before: KubeObject;
  readonly fieldManager: string;
}

async function staysSame(client: ApplyClient, { object, before, fieldManager }: Question): Promise<boolean> {
  try {
    return sameContent(before, await client.apply(appliedForm(object), { fieldManager, force: true, dryRun: true }));
  } catch (thrown) {
    // It would fail, or its kind is not there yet: not the same in either case, and the real apply tells why.
    if (thrown instanceof BkeError) return false;
    throw thrown;
  }
}
