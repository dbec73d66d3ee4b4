// How an operation gets on: out of what it told so far and what is so now, what is to be told and written. Pure, and of its status alone, so that another controller goes on with it.
import type { EventBody, StepPlace } from '../../api/events.ts';
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';
import { BkeError, type ErrorReport, toErrorReport } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { Chain, LookedStep, OperationFrame, Waiting } from './chain.ts';
import { defined } from '../../lib/defined.ts';
import { bounded, cancelledReport, hostState, lettersOf, report, stored } from './reports.ts';

type HostEntry = NonNullable<BKEOperationStatus['hosts']>[number];
type PhaseEntry = NonNullable<BKEOperationStatus['phases']>[number];

export interface Advance {
  /** All of the status but its events. */
  readonly status: Omit<BKEOperationStatus, 'events' | 'conditions'>;
  readonly events: readonly EventBody[];
}

/** A cause that is new is told, but no chain tells more often: the ring holds 500 events of all hosts. */
const tellEveryMs = 10_000;
/** Shorter waits are not worth a line. */
const quietMs = 2000;
const longestCause = 500;
/** Lines of one failure that are told at once. */
const mostNotes = 4;

export interface AdvanceOptions {
  readonly frame: OperationFrame;
  readonly now: Date;
  /** Nothing further is waited for: everything that is not done is told as stopped. */
  readonly cancelled?: boolean;
  /** The same, and the operation has failed because of this. */
  readonly stopped?: BkeError | undefined;
}

export function advance(told: BKEOperationStatus, chains: readonly Chain[], options: AdvanceOptions): Advance {
  return new Progress(told, options).run(chains, options);
}

type Stop = Pick<AdvanceOptions, 'cancelled' | 'stopped'>;

class Progress {
  readonly #told: BKEOperationStatus;
  readonly #frame: OperationFrame;
  readonly #now: string;
  readonly #nowMs: number;
  readonly #events: EventBody[] = [];
  readonly #phases: Map<string, PhaseEntry>;
  /** Of the errors of all hosts so far. */
  #letters: number;

  constructor(told: BKEOperationStatus, { frame, now }: { readonly frame: OperationFrame; readonly now: Date }) {
    this.#told = told;
    this.#frame = frame;
    this.#now = now.toISOString();
    this.#nowMs = now.getTime();
    this.#phases = new Map((told.phases ?? []).map((phase) => [phase.name, phase]));
    this.#letters = (told.hosts ?? []).reduce(
      (sum, { error }) => sum + (error === undefined ? 0 : lettersOf(error)),
      0,
    );
  }

  run(chains: readonly Chain[], stop: Stop): Advance {
    const started = this.#told.started ?? this.#now;
    if (this.#told.started === undefined) this.#begin(chains);
    const before = new Map((this.#told.hosts ?? []).map((entry) => [entry.name, entry]));
    const hosts = chains.map((chain) => this.#follow(chain, before.get(chain.name), chains));
    this.#endPhases(chains, hosts);
    const status = { ...this.#status(started), hosts };
    const isStopped = stop.cancelled === true || stop.stopped !== undefined;
    const over = isStopped || hosts.every(({ state }) => state === 'Done') || this.#isStuck(chains, hosts);
    if (!over)
      return { status: { ...status, phase: 'Running', phases: [...this.#phases.values()] }, events: this.#events };
    return this.#finish(chains, hosts, { ...stop, started });
  }

  #status(started: string): Pick<BKEOperationStatus, 'started' | 'retryToken'> {
    const { retryToken } = this.#told;
    return { started, ...(retryToken === undefined ? {} : { retryToken }) };
  }

  #begin(chains: readonly Chain[]): void {
    const { action, target, phases } = this.#frame;
    const hosts = chains.flatMap(({ host }) => host ?? []);
    this.#events.push({ type: 'operation.started', action, target, hosts, dryRun: false, phases });
  }

  /** Goes through the steps that are done, and tells of the one that is not. */
  #follow(chain: Chain, told: HostEntry | undefined, chains: readonly Chain[]): HostEntry {
    if (told !== undefined && told.state !== 'Running') return told;
    const from = told === undefined ? 0 : chain.steps.findIndex(({ step }) => step === told.step);
    let entry = told;
    for (const step of chain.steps.slice(Math.max(0, from))) {
      entry = entry?.step === step.step ? entry : this.#enter(chain, step, { before: entry, chains });
      if (step.look.state === 'waiting') return this.#wait(chain, step, { entry, look: step.look });
      entry = this.#leave(chain, step, entry);
    }
    const { name, phase, step, changed } = entry ?? { name: chain.name };
    return { name, ...defined({ phase, step, changed }), state: 'Done', since: this.#now };
  }

  #leave(chain: Chain, step: LookedStep, entry: HostEntry): HostEntry {
    const changed = entry.since !== this.#now;
    this.#events.push({
      type: 'step.finished',
      ...placeOf(chain, step),
      changed,
      ...(changed ? {} : { found: 'there already' }),
      durationMs: this.#since(entry.since),
    });
    return changed ? { ...entry, changed } : entry;
  }

  #enter(
    chain: Chain,
    step: LookedStep,
    { before, chains }: { readonly before: HostEntry | undefined; readonly chains: readonly Chain[] },
  ): HostEntry {
    if (!this.#phases.has(step.phase)) {
      const title = this.#frame.phases.find(({ id }) => id === step.phase)?.title ?? step.phase;
      const hosts = chains.flatMap(({ host, steps }) =>
        host !== undefined && steps.some(({ phase }) => phase === step.phase) ? [host] : [],
      );
      this.#events.push({ type: 'phase.started', phase: step.phase, title, hosts });
      this.#phases.set(step.phase, { name: step.phase, state: 'Running', started: this.#now });
    }
    const { title, timeoutMs } = step;
    this.#events.push({ type: 'step.started', ...placeOf(chain, step), title, attempt: 1, timeoutMs });
    const { changed } = before ?? {};
    return {
      name: chain.name,
      phase: step.phase,
      step: step.step,
      state: 'Running',
      since: this.#now,
      ...defined({ changed }),
    };
  }

  #wait(
    chain: Chain,
    step: LookedStep,
    { entry, look }: { readonly entry: HostEntry; readonly look: Waiting },
  ): HostEntry {
    const { message: toldWords, told: toldAt, troubled: _troubled, ...unsaid } = entry;
    const troubled = this.#troubledSince(entry, look);
    const rest = { ...unsaid, ...defined({ troubled }) };
    const cause = look.cause.slice(0, longestCause);
    const error =
      this.#lastingError(look, troubled) ??
      this.#lateError(chain, step, { since: entry.since, cause, next: look.next });
    if (error !== undefined) {
      const report = bounded({ ...error, ...defined({ host: chain.host }) }, this.#letters);
      this.#letters += lettersOf(stored(report));
      this.#events.push({
        type: 'step.failed',
        ...placeOf(chain, step),
        error: report,
        durationMs: this.#since(entry.since),
      });
      this.#tellDetails(chain, report);
      return { ...unsaid, state: 'Failed', error: stored(report) };
    }
    const message = `${look.for}: ${cause}`.slice(0, 1024);
    const due = toldAt === undefined ? this.#since(entry.since) >= quietMs : this.#since(toldAt) >= tellEveryMs;
    if (message === toldWords || !due) return { ...rest, ...defined({ message: toldWords, told: toldAt }) };
    this.#events.push({
      type: 'step.waiting',
      ...placeOf(chain, step),
      for: look.for,
      since: entry.since,
      cause,
      ...(look.next === undefined ? {} : { next: look.next }),
    });
    return { ...rest, message, told: this.#now };
  }

  #troubledSince({ troubled }: HostEntry, { trouble, retries }: Waiting): string | undefined {
    if (trouble !== undefined) return troubled ?? this.#now;
    return retries === true ? troubled : undefined;
  }

  #lastingError({ trouble }: Waiting, troubled: string | undefined): ErrorReport | undefined {
    if (trouble === undefined || troubled === undefined) return undefined;
    return this.#since(troubled) >= trouble.graceMs ? trouble.error : undefined;
  }

  /** The end of the operation has all of them; it may be far away. */
  #tellDetails({ host }: Chain, { details = [] }: ErrorReport): void {
    for (const message of details.slice(-mostNotes))
      this.#events.push({ type: 'note', level: 'warning', message, ...defined({ host }) });
  }

  #lateError(
    { host }: Chain,
    { title, timeoutMs, look }: LookedStep,
    waited: { readonly since: string; readonly cause: string; readonly next: string | undefined },
  ): ErrorReport | undefined {
    if (this.#since(waited.since) < timeoutMs) return undefined;
    const waitedFor = look.state === 'waiting' ? look.for : title;
    return toErrorReport(
      new BkeError('BKE_TIMEOUT', `waited ${formatDuration(timeoutMs)} for ${waitedFor}: ${waited.cause}`, {
        host,
        hint: waited.next === undefined ? undefined : `Look at: ${waited.next}`,
      }),
    );
  }

  /** A phase is over when no chain is in it or comes to it any more. @param last nothing comes to any more */
  #endPhases(chains: readonly Chain[], hosts: readonly HostEntry[], last = false): void {
    for (const [name, phase] of this.#phases) {
      if (phase.state !== 'Running') continue;
      const parts = chains.flatMap((chain, index) => {
        const entry = hosts[index];
        return entry === undefined ? [] : [stateIn(chain, entry, name)];
      });
      if (!last && parts.includes('open')) continue;
      this.#endPhase(phase, parts.includes('failed') ? 'Failed' : parts.includes('open') ? 'Stopped' : 'Done');
    }
  }

  #endPhase(phase: PhaseEntry, state: 'Done' | 'Failed' | 'Stopped'): void {
    const outcome = ({ Done: 'done', Failed: 'failed', Stopped: 'cancelled' } as const)[state];
    this.#events.push({ type: 'phase.finished', phase: phase.name, outcome, durationMs: this.#since(phase.started) });
    this.#phases.set(phase.name, { ...phase, state, finished: this.#now });
  }

  /** Something failed, and what is left waits for nothing but that. */
  #isStuck(chains: readonly Chain[], hosts: readonly HostEntry[]): boolean {
    if (!hosts.some(({ state }) => state === 'Failed')) return false;
    return hosts.every((entry, index) => {
      if (entry.state !== 'Running') return true;
      const look = chains[index]?.steps.find(({ step }) => step === entry.step)?.look;
      return look?.state === 'waiting' && look.blocked === true;
    });
  }

  #finish(
    chains: readonly Chain[],
    hosts: readonly HostEntry[],
    { started, cancelled, stopped }: Stop & { readonly started: string },
  ): Advance {
    const ended = hosts.map((entry, index) => this.#stop(entry, chains[index]));
    this.#endPhases(chains, ended, true);
    const failed = [
      ...(stopped === undefined ? [] : [stored(toErrorReport(stopped))]),
      ...ended.flatMap(({ error }) => error ?? []),
    ];
    const outcome = cancelled === true ? 'cancelled' : failed.length > 0 ? 'failed' : 'done';
    const error = outcome === 'cancelled' ? cancelledReport() : failed[0];
    this.#events.push({
      type: 'operation.finished',
      outcome,
      changed: ended.some(({ changed }) => changed === true),
      hosts: ended.map((entry, index) => hostState(entry, chains[index]?.host)),
      ...(error === undefined ? {} : { error: report(error) }),
      next: this.#frame.next(outcome),
      durationMs: this.#since(started),
    });
    const status = {
      ...this.#status(started),
      phase: ({ done: 'Done', failed: 'Failed', cancelled: 'Cancelled' } as const)[outcome],
      finished: this.#now,
      ...(error === undefined ? {} : { error }),
      phases: [...this.#phases.values()],
      hosts: ended,
    };
    return { status, events: this.#events };
  }

  /** What was still under way. */
  #stop(entry: HostEntry, chain: Chain | undefined): HostEntry {
    if (entry.state !== 'Running' || chain === undefined) return entry;
    const step = chain.steps.find((one) => one.step === entry.step);
    if (step !== undefined) {
      const words = entry.message === undefined ? '' : `; it waited for ${entry.message}`;
      const error = toErrorReport(
        new BkeError('BKE_CANCELLED', `stopped in '${step.title}'${words}`, { host: chain.host }),
      );
      this.#events.push({ type: 'step.failed', ...placeOf(chain, step), error, durationMs: this.#since(entry.since) });
    }
    return { ...entry, state: 'Stopped' };
  }

  #since(time: string): number {
    return Math.max(0, this.#nowMs - Date.parse(time));
  }
}

function placeOf({ host }: Chain, { phase, step }: LookedStep): StepPlace {
  return { phase, step, ...(host === undefined ? {} : { host }) };
}

/** Where a chain is with the steps it has in a phase. */
function stateIn({ steps }: Chain, entry: HostEntry, phase: string): 'none' | 'open' | 'through' | 'failed' {
  const last = steps.findLastIndex((step) => step.phase === phase);
  if (last === -1) return 'none';
  if (entry.state === 'Done') return 'through';
  const at = steps.findIndex(({ step }) => step === entry.step);
  if (at > last) return 'through';
  return entry.state === 'Failed' ? 'failed' : 'open';
}
