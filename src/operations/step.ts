// Runs one step inside its time, and turns whatever happens into one end.
import type { StepPlace } from '../api/events.ts';
import { formatDuration } from '../lib/duration.ts';
import { BkeError, toErrorReport } from '../lib/errors.ts';
import { explainSystemError } from '../lib/system-error.ts';
import type { Emit } from './emitter.ts';
import type { OperationOptions, Step, StepBinding, StepEvent, WaitState } from './operation.ts';

const progressMs = 250;

export interface StepEnd {
  readonly outcome: 'done' | 'failed' | 'cancelled';
  readonly changed: boolean;
  readonly error?: unknown;
}

type Run<Scope> = Pick<OperationOptions<Scope>, 'signal' | 'dryRun' | 'createScope' | 'graceMs'> & {
  readonly emit: Emit;
};

/** Never throws: every started step gets its step.finished or step.failed. */
export async function runStep<Scope>(run: Run<Scope>, place: StepPlace, step: Step<Scope>): Promise<StepEnd> {
  const began = performance.now();
  const { emit } = run;
  emit({ type: 'step.started', ...place, title: step.title, attempt: 1, timeoutMs: step.timeoutMs });
  const state: { changed: boolean; wait: WaitState | undefined; open: boolean } = {
    changed: false,
    wait: undefined,
    open: true,
  };
  const isTooSoon = createThrottle();
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new BkeError('BKE_TIMEOUT', 'the time of this step is over')),
    step.timeoutMs,
  );
  const binding: StepBinding = {
    place,
    dryRun: run.dryRun,
    signal: AbortSignal.any([run.signal, deadline.signal]),
    emit: (body) => {
      // A step that was given up on may still talk; its end has been told already.
      if (!state.open || isTooSoon(body)) return;
      emit(body.type === 'note' ? { ...body, ...hostOf(place) } : { ...body, ...place });
    },
    changed: () => {
      state.changed = true;
    },
    waitsFor: (wait) => {
      state.wait = wait;
    },
  };
  const settled = await settle(async () => step.run(run.createScope(binding)), deadline.signal, run.graceMs ?? 5000);
  clearTimeout(timer);
  state.open = false;
  const durationMs = Math.round(performance.now() - began);
  if (settled.ok) {
    const { found } = step;
    emit({
      type: 'step.finished',
      ...place,
      changed: state.changed,
      ...(found === undefined ? {} : { found }),
      durationMs,
    });
    return { outcome: 'done', changed: state.changed };
  }
  const cancelled = run.signal.aborted && !deadline.signal.aborted;
  const error = endError(settled.error, { cancelled, expired: deadline.signal.aborted, step, place, wait: state.wait });
  emit({ type: 'step.failed', ...place, error: toErrorReport(error), durationMs });
  return { outcome: cancelled ? 'cancelled' : 'failed', changed: state.changed, error };
}

/** Counting steps may tell each byte; journals and watchers get at most four of these a second, and the last one. */
function createThrottle(): (body: StepEvent) => boolean {
  let last = Number.NEGATIVE_INFINITY;
  return (body) => {
    if (body.type !== 'step.progress' || body.done === undefined || body.done === body.total) return false;
    if (performance.now() - last < progressMs) return true;
    last = performance.now();
    return false;
  };
}

type Settled = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

/** The work's own end, or an end after the deadline and the grace, whichever is first. */
async function settle(work: () => Promise<void>, deadline: AbortSignal, graceMs: number): Promise<Settled> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<Settled>((resolve) => {
    const onDeadline = (): void => {
      timer = setTimeout(() => resolve({ ok: false, error: deadline.reason }), graceMs);
    };
    deadline.addEventListener('abort', onDeadline, { once: true });
  });
  const ended = work().then(
    (): Settled => ({ ok: true }),
    (error: unknown): Settled => ({ ok: false, error }),
  );
  try {
    return await Promise.race([ended, givenUp]);
  } finally {
    clearTimeout(timer);
  }
}

interface EndCircumstances {
  readonly cancelled: boolean;
  readonly expired: boolean;
  readonly step: Pick<Step<never>, 'title' | 'timeoutMs'>;
  readonly place: StepPlace;
  readonly wait: WaitState | undefined;
}

/** After a cancel or a deadline, what a step throws (a killed program, an aborted request) is only a consequence: kept as the cause. */
function endError(thrown: unknown, end: EndCircumstances): unknown {
  const { host } = end.place;
  if (end.cancelled) {
    if (thrown instanceof BkeError && thrown.code === 'BKE_CANCELLED') return withHost(thrown, host);
    return new BkeError('BKE_CANCELLED', `stopped in '${end.step.title}'`, { host, cause: thrown });
  }
  if (end.expired) {
    const { wait } = end;
    const waited =
      wait === undefined ? '' : `; it was waiting for ${wait.for}${wait.cause === undefined ? '' : `: ${wait.cause}`}`;
    const message = `'${end.step.title}' did not end within ${formatDuration(end.step.timeoutMs)}${waited}`;
    return new BkeError('BKE_TIMEOUT', message, { host, hint: wait?.next, cause: thrown });
  }
  const error = explainSystemError(thrown);
  return error instanceof BkeError ? withHost(error, host) : error;
}

function withHost(error: BkeError, host: string | undefined): BkeError {
  if (host === undefined || error.host !== undefined) return error;
  const { message, hint, details } = error;
  const located = new BkeError(error.code, message, { host, hint, details, cause: error.cause });
  if (error.stack !== undefined) located.stack = error.stack;
  return located;
}

function hostOf(place: StepPlace): { host?: string } {
  return place.host === undefined ? {} : { host: place.host };
}
