// Leader election by a coordination.k8s.io/v1 Lease: one holder at a time, and it knows in time when it is none any more.
import { BkeError } from '../lib/errors.ts';
import { rest } from '../lib/rest.ts';
import type { KubeClient, KubeObject } from './client.ts';
import { fieldAt, isKubeObject, numberAt, textAt } from './fields.ts';

export interface LeaseOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'request'>;
  readonly namespace: string;
  readonly name: string;
  /** Of this process alone, e.g. pod name and a random part. */
  readonly identity: string;
  readonly timing?: LeaseTiming;
  /** Told when somebody else holds it, and when asking failed. */
  readonly onWait?: (cause: string) => void;
}

export interface LeaseTiming {
  /** How long others wait after the last renewal that they saw. */
  readonly durationMs: number;
  /** How long the holder goes on without a renewal; shorter than durationMs, so that it has stopped before another one starts. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

export interface HeldLease {
  /** Aborted, with the reason, as soon as this process must not act as the holder any more. */
  readonly signal: AbortSignal;
  /** Grows with each change of the holder: what an earlier one wrote is told by it. */
  readonly generation: number;
  /** Gives it back, so that another one can begin at once. The work must have ended. */
  release(): Promise<void>;
}

/** client-go's, as kube-controller-manager and controller-runtime use them. */
const defaultTiming: LeaseTiming = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 };

/** Waits until this process holds the lease. @throws the signal's reason once it is aborted */
export async function holdLease(options: LeaseOptions, signal: AbortSignal): Promise<HeldLease> {
  const candidate = new Candidate(options);
  for (;;) {
    signal.throwIfAborted();
    const started = performance.now();
    const { held, cause } = await candidate.tryToHold();
    if (held === true) return new Holder(candidate, started, signal);
    options.onWait?.(cause);
    const wait = candidate.timing.retryMs * (1 + 0.2 * Math.random());
    await rest(wait, signal);
  }
}

/** held: undefined where nobody knows: the API server could not be asked, or somebody else wrote at the same time. */
type Attempt =
  | { readonly held: true; readonly cause?: undefined }
  | { readonly held: false | undefined; readonly cause: string };

class Candidate {
  readonly timing: LeaseTiming;
  readonly #options: LeaseOptions;
  /** The lease as last seen, and when, by the local monotonic clock: other machines' clocks are never compared. */
  #seen: { readonly lease: KubeObject; readonly at: number } | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.timing = options.timing ?? defaultTiming;
  }

  /** Takes or renews it where nobody else has it. */
  async tryToHold(): Promise<Attempt> {
    try {
      const holder = await this.#takeUnlessHeld();
      return holder === undefined ? { held: true } : { held: false, cause: `${holder} holds it` };
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
      return { held: undefined, cause: thrown.message };
    }
  }

  /** @returns who else holds it; undefined: this process does */
  async #takeUnlessHeld(): Promise<string | undefined> {
    const { client, namespace, name, identity } = this.#options;
    const lease = await client.get({ apiVersion, kind, namespace, name });
    if (lease === undefined) {
      this.#see(await client.create({ apiVersion, kind, metadata: { namespace, name }, spec: this.#spec(undefined) }));
      return undefined;
    }
    this.#see(lease);
    const holder = textAt(lease, 'spec', 'holderIdentity');
    if (holder !== undefined && holder !== identity && !this.#ranOut()) return holder;
    await this.#put(lease, this.#spec(lease));
    return undefined;
  }

  /** Nothing is done where somebody else has it already; where it can't be given back it runs out by itself. */
  async giveBack(): Promise<void> {
    const { client, namespace, name, identity } = this.#options;
    try {
      const lease = await client.get({ apiVersion, kind, namespace, name });
      if (lease === undefined || textAt(lease, 'spec', 'holderIdentity') !== identity) return;
      await this.#put(lease, { ...this.#spec(lease), holderIdentity: '', leaseDurationSeconds: 1 });
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
    }
  }

  /** How often its holder has changed. */
  get transitions(): number {
    return numberAt(this.#seen?.lease, 'spec', 'leaseTransitions') ?? 0;
  }

  #see(lease: KubeObject): void {
    if (this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: performance.now() };
  }

  /** Whether it was seen unchanged for as long as its holder said it would hold. */
  #ranOut(): boolean {
    if (this.#seen === undefined) return false;
    const seconds = numberAt(this.#seen.lease, 'spec', 'leaseDurationSeconds') ?? this.timing.durationMs / 1000;
    return performance.now() - this.#seen.at > seconds * 1000;
  }

  /** The version that was read goes with it: of two who try, the server takes one. */
  async #put(lease: KubeObject, spec: object): Promise<void> {
    const { client, namespace, name } = this.#options;
    const path = `/apis/${apiVersion}/namespaces/${namespace}/leases/${name}`;
    const body = { ...lease, spec };
    const answer = await client.request('PUT', path, { body, timeoutMs: this.timing.renewDeadlineMs });
    if (isKubeObject(answer)) this.#see(answer);
  }

  #spec(lease: KubeObject | undefined): object {
    const { identity } = this.#options;
    const now = microTime(new Date());
    const own = textAt(lease, 'spec', 'holderIdentity') === identity;
    const transitions = numberAt(lease, 'spec', 'leaseTransitions') ?? 0;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.timing.durationMs / 1000),
      acquireTime: own ? fieldAt(lease, 'spec', 'acquireTime') : now,
      renewTime: now,
      leaseTransitions: own || lease === undefined ? transitions : transitions + 1,
    };
  }
}

class Holder implements HeldLease {
  readonly generation: number;
  readonly #candidate: Candidate;
  readonly #lost = new AbortController();
  readonly #renewals = new AbortController();
  readonly #ended: Promise<void>;
  /** Of the last renewal that was taken; its start, because others count from then on at the earliest. */
  #renewed: number;
  #deadline: NodeJS.Timeout | undefined;

  constructor(candidate: Candidate, renewed: number, signal: AbortSignal) {
    this.#candidate = candidate;
    // From 1: what was written under no lease has 0.
    this.generation = candidate.transitions + 1;
    this.#renewed = renewed;
    const stop = (): void => this.#lose(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#lost.signal.addEventListener('abort', () => signal.removeEventListener('abort', stop), { once: true });
    this.#guard('the API server does not answer');
    if (signal.aborted) stop();
    this.#ended = this.#renew();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  async release(): Promise<void> {
    this.#lose(new Error('the lease was given back'));
    await this.#ended;
    await this.#candidate.giveBack();
  }

  async #renew(): Promise<void> {
    const { signal } = this.#renewals;
    for (;;) {
      await rest(this.#candidate.timing.retryMs, signal);
      if (signal.aborted) return;
      const started = performance.now();
      const { held, cause } = await this.#candidate.tryToHold();
      if (held === true) this.#renewed = started;
      if (held === false) this.#lose(lost(cause));
      this.#guard(cause ?? 'the API server does not answer');
    }
  }

  /** The time runs from the last renewal, whatever a request that hangs does. */
  #guard(cause: string): void {
    if (this.#lost.signal.aborted) return;
    clearTimeout(this.#deadline);
    const { renewDeadlineMs } = this.#candidate.timing;
    const left = this.#renewed + renewDeadlineMs - performance.now();
    this.#deadline = setTimeout(() => this.#lose(lost(cause)), Math.max(0, left));
  }

  #lose(reason: unknown): void {
    clearTimeout(this.#deadline);
    this.#renewals.abort();
    this.#lost.abort(reason);
  }
}

function lost(cause: string): BkeError {
  return new BkeError('BKE_KUBE_CONFLICT', `the lease was lost: ${cause}`);
}

const apiVersion = 'coordination.k8s.io/v1';
const kind = 'Lease';

/** The form that Kubernetes reads: six digits after the second. */
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
