// Runs controllers while this process holds the lease: of several processes one works, the others wait to go on at once.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeClient } from '../kube/client.ts';
import { type HeldLease, holdLease, type LeaseTiming } from '../kube/lease.ts';
import { BkeError } from '../lib/errors.ts';
import { toError } from '../lib/thrown.ts';
import type { Controller } from './controller.ts';
import { SharedInformers, type SourceState } from './informers.ts';
import type { LeadFence } from './lead-fence.ts';
import { errorFields, type Log } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';
import { Worker } from './worker.ts';

export interface ManagerOptions {
  readonly client: KubeClient;
  readonly controllers: readonly Controller[];
  readonly lease: {
    readonly namespace: string;
    readonly name: string;
    /** Of this process alone. */
    readonly identity: string;
    readonly timing?: LeaseTiming;
    readonly generationFloor?: () => Promise<number>;
  };
  /** Of the clients that controllers write with; opened while the lease is held. */
  readonly fence?: LeadFence;
  /** Knows the lease alone. Default `client`. */
  readonly leaseClient?: Pick<KubeClient, 'request'>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** For what runs when it is to end. Default 5000. */
  readonly workGraceMs?: number;
}

export interface Manager {
  /**
   * Until the signal, then in less than eight seconds. A lease that is lost is waited for again.
   * @throws BkeError BKE_KUBE_CONFLICT where the lease is lost while something that was begun under it does not end: this process must.
   */
  run(signal: AbortSignal): Promise<void>;
  /** undefined: in step with the cluster, or ready to be. */
  whyNotReady(): string | undefined;
  /** A line for each kind that is watched; none while the lease is waited for. */
  watches(): readonly string[];
}

const defaultWorkGraceMs = 5000;
const releaseMs = 2000;
const tellBehindMs = 30_000;

export function createManager(options: ManagerOptions): Manager {
  let followed: SharedInformers | undefined;
  let syncing = false;
  options.metrics.watchSources(() => followed?.states() ?? []);
  return {
    whyNotReady: () => (syncing ? `not in step yet: ${followed?.behind().join('; ')}` : undefined),
    watches: () => followed?.states().map(watchLine) ?? [],
    run: async (signal) => {
      while (!signal.aborted) {
        const lease = await waitForLease(options, signal);
        if (lease === undefined) return;
        options.fence?.follow(lease.fence);
        followed = new SharedInformers();
        const left = await lead(options, lease, followed, (is) => (syncing = is));
        followed = undefined;
        options.fence?.follow(undefined);
        await afterLead({ lease, left, ends: signal.aborted, log: options.log });
      }
    },
  };
}

/** e.g. `Secret in bke-system: synced, 12 objects, last event 3 s ago` */
function watchLine({ name, synced, objects, silentMs, error }: SourceState): string {
  const heard = silentMs === undefined ? 'nothing heard yet' : `last event ${Math.round(silentMs / 1000)} s ago`;
  return `${name}: ${synced ? 'synced' : 'not synced'}, ${objects} objects, ${heard}${error === undefined ? '' : `: ${error}`}`;
}

/** undefined where the signal came first. */
async function waitForLease(
  { client, leaseClient = client, lease, log }: ManagerOptions,
  signal: AbortSignal,
): Promise<HeldLease | undefined> {
  let told = '';
  const onWait = (cause: string): void => {
    if (cause !== told) log.info({ cause }, 'waiting for the lease');
    told = cause;
  };
  try {
    return await holdLease({ client: leaseClient, ...lease, onWait }, signal);
  } catch (thrown) {
    if (signal.aborted) return undefined;
    throw thrown;
  }
}

/**
 * @param syncs told whether the informers are not in step yet
 * @returns what still is at work after a while
 */
async function lead(
  { client, controllers, metrics, log, workGraceMs = defaultWorkGraceMs }: ManagerOptions,
  { signal, generation }: HeldLease,
  informers: SharedInformers,
  syncs: (is: boolean) => void,
): Promise<readonly string[]> {
  log.info({}, 'holding the lease');
  metrics.leads(true);
  const workers = controllers.map(
    (controller) => new Worker({ controller, informers, metrics, log, leaseGeneration: generation }),
  );
  syncs(true);
  informers.start(client, signal);
  const teller = setInterval(() => log.warn({ behind: informers.behind() }, 'not in step yet'), tellBehindMs);
  try {
    await informers.synced();
    for (const worker of workers) worker.start();
    log.info({}, 'reconciling');
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    clearInterval(teller);
    syncs(false);
  }
  if (!signal.aborted) await once(signal, 'abort');
  log.info({ reason: toError(signal.reason).message }, 'stopping');
  const left = (await Promise.all(workers.map((worker) => worker.stop(workGraceMs)))).flat();
  metrics.leads(false);
  return left;
}

interface LedTime {
  readonly lease: HeldLease;
  readonly left: readonly string[];
  /** This process ends. */
  readonly ends: boolean;
  readonly log: Log;
}

/** Gives a lease back that was not lost: what was lost may be another one's by now, or this process' again. */
async function afterLead({ lease, left, ends, log }: LedTime): Promise<void> {
  if (left.length === 0) return ends ? release(lease, log) : undefined;
  // It may still write: the lease runs out by itself, and nothing may begin in this process again.
  if (!ends) throw new BkeError('BKE_KUBE_CONFLICT', `still at work without the lease: ${left.join(', ')}`);
  log.warn({ left }, 'ending in the middle of work');
}

/** The next one begins at once then, and not when it has run out. */
async function release(lease: HeldLease, log: Log): Promise<void> {
  const released = lease.release().catch((thrown: unknown) => {
    log.warn(errorFields(thrown), 'could not give the lease back');
  });
  await Promise.race([released, pause(releaseMs, undefined, { ref: false })]);
}
