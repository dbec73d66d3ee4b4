// Applies the objects of a manifest so that they hold in the end: in a safe order, again where the cluster is not ready yet, and telling what changed.
import { isDeepStrictEqual } from 'node:util';
import { BkeError } from '../lib/errors.ts';
import { createLimit } from '../lib/limit.ts';
import { retry } from '../lib/retry.ts';
import { toError } from '../lib/thrown.ts';
import { applyStages } from './apply-order.ts';
import type { KubeClient, KubeObject } from './client.ts';
import { waitForEstablished } from './established.ts';
import { keyOf } from './fields.ts';
import { kubeStatus } from './status-error.ts';

export interface ApplyAllOptions {
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  /** Takes fields over that another manager has. Default false. */
  readonly force?: boolean;
  /** How long one object is tried again while the cluster is not ready for it. Default 120 000. */
  readonly timeoutMs?: number;
  /** What is being waited for and why, in the cluster's words. */
  readonly onWait?: (cause: string) => void;
}

export type ApplyOutcome = 'created' | 'changed' | 'unchanged';

export interface Applied {
  readonly object: KubeObject;
  readonly outcome: ApplyOutcome;
}

const defaultTimeoutMs = 120_000;
/** Requests at a time. */
const most = 8;

/**
 * In the order in which they were applied; a second run with the same objects says unchanged for each.
 * @throws BkeError of the object that did not go, as KubeClient does; BKE_TIMEOUT where a definition is not established in time
 */
export async function applyAll(
  client: KubeClient,
  objects: readonly KubeObject[],
  options: ApplyAllOptions,
): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  for (const stage of applyStages(objects)) {
    applied.push(...(await applyStage(client, stage, options)));
    const definitions = stage.filter(({ kind }) => kind === 'CustomResourceDefinition');
    if (definitions.length > 0) await waitForEstablished(client, definitions, options);
  }
  return applied;
}

/** None of a stage needs another of it. What runs comes to an end before a failure is told: nothing goes on behind the caller's back. */
async function applyStage(
  client: KubeClient,
  stage: readonly KubeObject[],
  options: ApplyAllOptions,
): Promise<readonly Applied[]> {
  const limit = createLimit(most);
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  const ends = await Promise.all(
    stage.map(async (object) =>
      limit(() => applyOne(client, object, { ...options, signal })).catch((thrown: unknown) => {
        // Those that still wait for the cluster need not go on.
        failure.abort(thrown);
        return undefined;
      }),
    ),
  );
  options.signal.throwIfAborted();
  if (failure.signal.aborted) throw failure.signal.reason;
  return ends.filter((end) => end !== undefined);
}

async function applyOne(client: KubeClient, object: KubeObject, options: ApplyAllOptions): Promise<Applied> {
  const { fieldManager, force = false, signal, timeoutMs = defaultTimeoutMs } = options;
  return retry(
    async () => {
      signal.throwIfAborted();
      const before = await client.get(keyOf(object));
      const after = await client.apply(appliedForm(object), { fieldManager, force });
      return { object: after, outcome: outcomeOf(before, after) };
    },
    {
      attempts: Number.POSITIVE_INFINITY,
      deadlineMs: timeoutMs,
      pauseMs: 500,
      longestMs: 5000,
      signal,
      retriable: (error) => {
        const heals = mayHeal(error);
        if (heals) options.onWait?.(toError(error).message);
        return heals;
      },
    },
  );
}

/** What is sent for an object. The rules of an aggregated ClusterRole are a controller's to fill: an apply that empties them would never come to rest. */
export function appliedForm(object: KubeObject): KubeObject {
  if (object.kind !== 'ClusterRole' || object['aggregationRule'] === undefined) return object;
  const { rules: _rules, ...rest } = object;
  return rest;
}

function outcomeOf(before: KubeObject | undefined, after: KubeObject): ApplyOutcome {
  if (before === undefined) return 'created';
  if (before.metadata.resourceVersion === after.metadata.resourceVersion) return 'unchanged';
  // Between the two reads a controller may have written its status.
  return sameContent(before, after) ? 'unchanged' : 'changed';
}

/** Without regard to what the server and controllers keep in an object. */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  return isDeepStrictEqual(wanted(a), wanted(b));
}

/** What an apply is about. */
function wanted({ status: _status, metadata, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** Whether the same may be accepted soon: the API server or a webhook starts, a kind was defined just now, someone wrote at the same time. */
function mayHeal(thrown: unknown): boolean {
  if (!(thrown instanceof BkeError)) return false;
  if (thrown.code === 'BKE_KUBE_UNREACHABLE') return true;
  if (thrown.code === 'BKE_KUBE_REFUSED') return false;
  const status = kubeStatus(thrown);
  if (status === undefined) return false;
  if (status.status === 404) return status.reason === '' || status.reason === 'NoSuchKind';
  if (status.status === 409) return !status.message.startsWith('Apply failed with');
  return status.status === 429 || status.status >= 500;
}
