// Leader election by a coordination.k8s.io/v1 Lease: one holder at a time, and it knows in time when it is none any more.
import { BkeError } from '../lib/errors.ts';
import { rest } from '../lib/rest.ts';
import type { KubeClient, KubeObject } from './client.ts';
import type { Fence } from './fence.ts';
import { fieldAt, isKubeObject, numberAt, textAt } from './fields.ts';
import { kubeStatus } from './status-error.ts';

export interface LeaseOptions {
  readonly client: Pick<KubeClient, 'request'>;
  readonly namespace: string;
  readonly name: string;
  /** Of this process alone, e.g. pod name and a random part. */
  readonly identity: string;
  readonly timing?: LeaseTiming;
  /** The highest generation that is known elsewhere, asked before it is taken: a Lease that somebody deleted must not begin anew. Default 0. */
  readonly generationFloor?: () => Promise<number>;
  /** Told when somebody else holds it, and when asking failed. */
  readonly onWait?: (cause: string) => void;
}

export interface LeaseTiming {
  /** How long others wait after the last renewal that they saw. */
  readonly durationMs: number;
  /** How long the holder goes on without a renewal. With the time of a request it is shorter than durationMs: all that it sent is over when another one starts. */
  readonly renewDeadlineMs: number;
  /** For one request about the lease. */
  readonly requestTimeoutMs: number;
  readonly retryMs: number;
}

export interface HeldLease {
  /** Aborted, with the reason, as soon as this process must not act as the holder any more. */
  readonly signal: AbortSignal;
  /** Grows with each change of the holder: what an earlier one wrote is told by it. */
  readonly generation: number;
  /** Lets writes through as long as it is held, also while what was begun ends: by the clock, not by timers, which come late in a process that was stopped. */
  readonly fence: Fence;
  /** Gives it back, so that another one can begin at once. The work must have ended. */
  release(): Promise<void>;
}

/** Deadline, request and retry are those of controller-runtime; it lets the lease itself end 15 s after the last renewal, which leaves nothing between. */
export const defaultTiming: LeaseTiming = {
  durationMs: 18_000,
  renewDeadlineMs: 10_000,
  requestTimeoutMs: 5000,
  retryMs: 2000,
};

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
  /** Of all leases of this name that were seen: one that was deleted and made anew counts from the start. */
  #mostTransitions = -1;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.timing = options.timing ?? defaultTiming;
    const { durationMs, renewDeadlineMs, requestTimeoutMs } = this.timing;
    if (renewDeadlineMs + requestTimeoutMs >= durationMs) throw new Error('this lease could have two holders');
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
    const { namespace, name, identity } = this.#options;
    const lease = await this.#get();
    if (lease === undefined) {
      const spec = this.#spec(undefined, await this.#nextTransitions());
      await this.#send('POST', { apiVersion, kind, metadata: { namespace, name }, spec });
      return undefined;
    }
    this.#see(lease);
    const holder = textAt(lease, 'spec', 'holderIdentity');
    if (holder === identity) {
      await this.#send('PUT', { ...lease, spec: this.#spec(lease, transitionsOf(lease)) });
      return undefined;
    }
    if (holder !== undefined && !this.#ranOut()) return holder;
    await this.#send('PUT', { ...lease, spec: this.#spec(lease, await this.#nextTransitions()) });
    return undefined;
  }

  /** More than it ever had, and than anybody else knows of. */
  async #nextTransitions(): Promise<number> {
    const floor = (await this.#options.generationFloor?.()) ?? 0;
    return Math.max(this.#mostTransitions + 1, floor);
  }

  /** Nothing is done where somebody else has it already; where it can't be given back it runs out by itself. */
  async giveBack(): Promise<void> {
    const { identity } = this.#options;
    try {
      const lease = await this.#get();
      if (lease === undefined || textAt(lease, 'spec', 'holderIdentity') !== identity) return;
      const spec = { ...this.#spec(lease, transitionsOf(lease)), holderIdentity: '', leaseDurationSeconds: 1 };
      await this.#send('PUT', { ...lease, spec });
    } catch (thrown) {
      if (!(thrown instanceof BkeError)) throw thrown;
    }
  }

  /** How often its holder has changed. */
  get transitions(): number {
    return transitionsOf(this.#seen?.lease);
  }

  #see(lease: KubeObject): void {
    if (this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: performance.now() };
    this.#mostTransitions = Math.max(this.#mostTransitions, transitionsOf(lease));
  }

  /** Whether it was seen unchanged for as long as its holder said it would hold. */
  #ranOut(): boolean {
    if (this.#seen === undefined) return false;
    const seconds = numberAt(this.#seen.lease, 'spec', 'leaseDurationSeconds') ?? this.timing.durationMs / 1000;
    return performance.now() - this.#seen.at > seconds * 1000;
  }

  async #get(): Promise<KubeObject | undefined> {
    try {
      return await this.#ask('GET');
    } catch (thrown) {
      if (kubeStatus(thrown)?.status === 404) return undefined;
      throw thrown;
    }
  }

  /** The version that was read goes with it: of two who try, the server takes one. */
  async #send(method: 'POST' | 'PUT', lease: object): Promise<void> {
    const answer = await this.#ask(method, lease);
    if (answer !== undefined) this.#see(answer);
  }

  async #ask(method: 'GET' | 'POST' | 'PUT', body?: object): Promise<KubeObject | undefined> {
    const { client, namespace, name } = this.#options;
    const path = `/apis/${apiVersion}/namespaces/${namespace}/leases${method === 'POST' ? '' : `/${name}`}`;
    const timeoutMs = this.timing.requestTimeoutMs;
    const answer = await client.request(method, path, { timeoutMs, ...(body === undefined ? {} : { body }) });
    return isKubeObject(answer) ? answer : undefined;
  }

  #spec(lease: KubeObject | undefined, leaseTransitions: number): object {
    const { identity } = this.#options;
    const now = microTime(new Date());
    const own = textAt(lease, 'spec', 'holderIdentity') === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.timing.durationMs / 1000),
      acquireTime: own ? fieldAt(lease, 'spec', 'acquireTime') : now,
      renewTime: now,
      leaseTransitions,
    };
  }
}

function transitionsOf(lease: KubeObject | undefined): number {
  return numberAt(lease, 'spec', 'leaseTransitions') ?? 0;
}

class Holder implements HeldLease {
  readonly generation: number;
  readonly fence: Fence;
  readonly #candidate: Candidate;
  readonly #ending = new AbortController();
  readonly #over = new AbortController();
  readonly #renewals = new AbortController();
  readonly #ended: Promise<void>;
  /** Of the last renewal that was taken; its start, because others count from then on at the earliest. */
  #renewed: number;
  #deadline: NodeJS.Timeout | undefined;
  #cause = silent;

  constructor(candidate: Candidate, renewed: number, signal: AbortSignal) {
    this.#candidate = candidate;
    // From 1: what was written under no lease has 0.
    this.generation = candidate.transitions + 1;
    this.#renewed = renewed;
    this.fence = { check: () => this.#check(), signal: this.#over.signal };
    const stop = (): void => this.#end(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#ending.signal.addEventListener('abort', () => signal.removeEventListener('abort', stop), { once: true });
    this.#guard();
    if (signal.aborted) stop();
    this.#ended = this.#renew();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  async release(): Promise<void> {
    this.#lose(lost('it was given back'));
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
      this.#cause = cause ?? silent;
      this.#guard();
    }
  }

  /** The time runs from the last renewal, whatever a request that hangs does. */
  #guard(): void {
    if (this.#over.signal.aborted) return;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#lose(lost(this.#cause)), Math.max(0, this.#leftMs())).unref();
  }

  #leftMs(): number {
    return this.#renewed + this.#candidate.timing.renewDeadlineMs - performance.now();
  }

  #check(): void {
    if (!this.#over.signal.aborted && this.#leftMs() <= 0) this.#lose(lost(this.#cause));
    this.#over.signal.throwIfAborted();
  }

  /** Nothing new is to begin; what was begun may still be written until the lease runs out. */
  #end(reason: unknown): void {
    this.#renewals.abort();
    this.#ending.abort(reason);
  }

  #lose(reason: unknown): void {
    clearTimeout(this.#deadline);
    this.#over.abort(reason);
    this.#end(reason);
  }
}

const silent = 'the API server does not answer';

function lost(cause: string): BkeError {
  return new BkeError('BKE_KUBE_CONFLICT', `the lease was lost: ${cause}`);
}

const apiVersion = 'coordination.k8s.io/v1';
const kind = 'Lease';

/** The form that Kubernetes reads: six digits after the second. */
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
