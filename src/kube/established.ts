// A CustomResourceDefinition is there before its kind can be used; this is the wait between.
import { setTimeout as pause } from 'node:timers/promises';
import { BkeError } from '../lib/errors.ts';
import type { KubeClient, KubeObject } from './client.ts';
import { conditionOf } from './conditions.ts';
import { keyOf } from './fields.ts';

export interface EstablishedWait {
  readonly signal: AbortSignal;
  readonly onWait?: (cause: string) => void;
}

const limitMs = 60_000;
const pollMs = 200;

/** @throws BkeError BKE_TIMEOUT that says why one is not established */
export async function waitForEstablished(
  client: KubeClient,
  definitions: readonly KubeObject[],
  { signal, onWait }: EstablishedWait,
): Promise<void> {
  const end = performance.now() + limitMs;
  for (const definition of definitions) {
    for (;;) {
      const trouble = notEstablished(await client.get(keyOf(definition)));
      if (trouble === undefined) break;
      const cause = `the kind ${definition.metadata.name} is not ready: ${trouble}`;
      if (performance.now() > end) throw new BkeError('BKE_TIMEOUT', cause);
      onWait?.(cause);
      await pause(pollMs, undefined, { signal });
    }
  }
}

function notEstablished(definition: KubeObject | undefined): string | undefined {
  if (definition === undefined) return 'it was deleted';
  if (conditionOf(definition, 'Established')?.status === 'True') return undefined;
  const names = conditionOf(definition, 'NamesAccepted');
  return names?.status === 'False' ? names.message : 'the API server has not taken it up yet';
}
