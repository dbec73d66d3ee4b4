// Writes fields of an object's status, where they are something new.
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../kube/client.ts';
import { fieldAt, keyOf, textAt } from '../kube/fields.ts';
import { kubeStatus } from '../kube/status-error.ts';
import type { EventRecorder } from './event-recorder.ts';

/** What whoever writes a status and tells people of it needs. */
export interface StatusWriter {
  readonly client: Pick<KubeClient, 'apply'>;
  readonly events: EventRecorder;
  readonly now: () => Date;
}

/** The frame of what is applied to an object that is there: with its uid, so that of one that is gone none is made. */
export function identityOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace = 'default', uid = '' } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid } };
}

/**
 * What one apply leaves out goes only where nobody else has applied it too: an object that was moved or restored has its finalizers from whoever did that.
 * @param object as it is after it was applied without
 */
export async function dropFinalizer(
  client: Pick<KubeClient, 'patch'>,
  object: KubeObject,
  { finalizer, fieldManager }: { readonly finalizer: string; readonly fieldManager: string },
): Promise<void> {
  const { finalizers = [], resourceVersion } = object.metadata;
  if (!finalizers.includes(finalizer)) return;
  const patch = { metadata: { resourceVersion, finalizers: finalizers.filter((other) => other !== finalizer) } };
  await client.patch(keyOf(object), patch, { type: 'merge', fieldManager });
}

/**
 * @param status all fields that this manager has there; undefined ones are left out
 * @returns the object as it is then; itself where all was so already; undefined where it is gone
 */
export async function putStatus(
  client: Pick<KubeClient, 'apply'>,
  object: KubeObject,
  { status, fieldManager }: { readonly status: object; readonly fieldManager: string },
): Promise<KubeObject | undefined> {
  const before = object['status'] ?? {};
  const fields = Object.entries(status).filter(([, value]) => value !== undefined);
  if (fields.every(([field, value]) => isThere(fieldAt(before, field), value))) return object;
  const wanted = { ...identityOf(object), status: Object.fromEntries(fields) };
  try {
    return await client.apply(wanted, { fieldManager, force: true, subresource: 'status' });
  } catch (thrown) {
    if (kubeStatus(thrown)?.status === 404) return undefined;
    throw thrown;
  }
}

/** Of a list that is told apart by its items' types (conditions), others may have items of their own. */
function isThere(before: unknown, value: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(value)) return isDeepStrictEqual(before, value);
  if (!value.every((item) => textAt(item, 'type') !== undefined)) return isDeepStrictEqual(before, value);
  return value.every((item) => before.some((old) => isDeepStrictEqual(old, item)));
}
