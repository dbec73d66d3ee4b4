// Runs controllers while this process holds the lease: of several processes one works, the others wait to go on at once.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeClient } from '../kube/client.ts';
import { type HeldLease, holdLease, type LeaseTiming } from '../kube/lease.ts';
import { BkeError } from '../lib/errors.ts';
import type { Controller } from './controller.ts';
import { SharedInformers } from './informers.ts';
import { errorFields, type Log } from './log.ts';
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
  };
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface Manager {
  /**
   * Until the signal, then in less than eight seconds. A lease that is lost is waited for again.
   * @throws BkeError BKE_KUBE_CONFLICT where the lease is lost while something that was begun under it does not end: this process must.
   */
  run(signal: AbortSignal): Promise<void>;
  /** undefined: in step with the cluster, or ready to be. */
  whyNotReady(): string | undefined;
}

/** For what runs when it is to end. */
const workGraceMs = 5000;
const releaseMs = 2000;
const tellBehindMs = 30_000;

export function createManager(options: ManagerOptions): Manager {
  let syncing: SharedInformers | undefined;
  return {
    whyNotReady: () => (syncing === undefined ? undefined : `not in step yet: ${syncing.behind().join('; ')}`),
    run: async (signal) => {
      while (!signal.aborted) {
        const lease = await waitForLease(options, signal);
        if (lease !== undefined) await lead(options, lease, (informers) => (syncing = informers));
      }
    },
  };
}

/** undefined where the signal came first. */
async function waitForLease(
  { client, lease, log }: ManagerOptions,
  signal: AbortSignal,
): Promise<HeldLease | undefined> {
  let told = '';
  const onWait = (cause: string): void => {
    if (cause !== told) log.info({ cause }, 'waiting for the lease');
    told = cause;
  };
  try {
    return await holdLease({ client, ...lease, onWait }, signal);
  } catch (thrown) {
    if (signal.aborted) return undefined;
    throw thrown;
  }
}

/** @param syncs told of the informers while they are not in step yet */
async function lead(
  { client, controllers, metrics, log }: ManagerOptions,
  lease: HeldLease,
  syncs: (informers: SharedInformers | undefined) => void,
): Promise<void> {
  log.info({}, 'holding the lease');
  metrics.leads(true);
  const informers = new SharedInformers();
  const workers = controllers.map((controller) => new Worker({ controller, informers, metrics, log }));
  syncs(informers);
  informers.start(client, lease.signal);
  const teller = setInterval(() => log.warn({ behind: informers.behind() }, 'not in step yet'), tellBehindMs);
  try {
    await informers.synced();
    for (const worker of workers) worker.start();
    log.info({}, 'reconciling');
  } catch (thrown) {
    if (!lease.signal.aborted) throw thrown;
  } finally {
    clearInterval(teller);
    syncs(undefined);
  }
  if (!lease.signal.aborted) await once(lease.signal, 'abort');
  await endLead(workers, lease, { metrics, log });
}

async function endLead(
  workers: readonly Worker[],
  lease: HeldLease,
  { metrics, log }: Pick<ManagerOptions, 'metrics' | 'log'>,
): Promise<void> {
  log.info({ reason: String(lease.signal.reason) }, 'stopping');
  const left = (await Promise.all(workers.map((worker) => worker.stop(workGraceMs)))).flat();
  metrics.leads(false);
  if (left.length > 0) {
    // It may still write: the lease runs out by itself, and nothing is begun in this process again.
    throw new BkeError(
      'BKE_KUBE_CONFLICT',
      `still at work ${workGraceMs / 1000} s after the end of the lease: ${left.join(', ')}`,
    );
  }
  const released = lease.release().then(
    () => log.info({}, 'gave the lease back'),
    (thrown: unknown) => log.warn(errorFields(thrown), 'could not give the lease back'),
  );
  await Promise.race([released, pause(releaseMs, undefined, { ref: false })]);
}
