// The local runner: phases over hosts, every host at its own pace inside a window, bounded, cancellable.
import type { HostState, Outcome, StepPlace } from '../api/events.ts';
import { BkeError, toErrorReport } from '../lib/errors.ts';
import { createLimit, type Limit } from '../lib/limit.ts';
import { createEmitter, type Emit } from './emitter.ts';
import type { HostChain, OperationOptions, OperationResult, Phase } from './operation.ts';
import { createPhaseProgress, type PhaseProgress } from './phase-progress.ts';
import { runStep, type StepEnd } from './step.ts';

interface HostProgress {
  readonly host: string | undefined;
  state: HostState['state'];
  /** Failed or stopped: nothing more is done there. */
  out: boolean;
  changed: boolean;
  at?: StepPlace;
  error?: unknown;
}

interface Run<Scope> extends OperationOptions<Scope> {
  readonly emit: Emit;
  readonly hosts: Map<string | undefined, HostProgress>;
  /** A phase with stopOnFailure has failed. */
  halted: boolean;
}

/** Runs all phases and tells how every host ended. Never throws for what steps throw: that is in the result and the events. */
export async function runOperation<Scope>(options: OperationOptions<Scope>): Promise<OperationResult> {
  const { id, sink, journal, now, phases } = options;
  const began = performance.now();
  const emit = createEmitter({ operation: id, now, sink, journal });
  const run: Run<Scope> = { ...options, emit, hosts: hostsOf(phases), halted: false };
  emit({
    type: 'operation.started',
    action: options.action,
    target: options.target,
    hosts: [...run.hosts.keys()].filter((host) => host !== undefined),
    dryRun: options.dryRun,
    phases: phases.map((phase) => ({ id: phase.id, title: phase.title })),
  });
  for (const segment of segments(phases)) await runSegment(run, segment);
  const result = resultOf(run, Math.round(performance.now() - began));
  emit({
    type: 'operation.finished',
    outcome: result.outcome,
    changed: result.changed,
    hosts: result.hosts,
    ...errorOf(result),
    next: options.next?.(result.outcome) ?? [],
    durationMs: result.durationMs,
  });
  return result;
}

/** Phases that may overlap: a new segment starts at each barrier. */
function segments<Scope>(phases: readonly Phase<Scope>[]): Phase<Scope>[][] {
  const all: Phase<Scope>[][] = [];
  for (const phase of phases) {
    const last = all.at(-1);
    if (last === undefined || phase.barrier === true) all.push([phase]);
    else last.push(phase);
  }
  return all;
}

interface Stretch<Scope> {
  readonly phase: Phase<Scope>;
  readonly chain: HostChain<Scope>;
  readonly progress: PhaseProgress;
  readonly limit: Limit;
}

async function runSegment<Scope>(run: Run<Scope>, phases: readonly Phase<Scope>[]): Promise<void> {
  const ways = new Map<string | undefined, Stretch<Scope>[]>();
  for (const phase of phases) {
    const progress = createPhaseProgress(run.emit, phase, (host) => !progressOf(run, host).out);
    const limit = createLimit(phase.concurrency ?? Number.POSITIVE_INFINITY);
    for (const chain of phase.chains) {
      const way = ways.get(chain.host) ?? [];
      way.push({ phase, chain, progress, limit });
      ways.set(chain.host, way);
    }
  }
  const window = createLimit(Math.max(1, run.concurrency));
  await Promise.all([...ways].map(([host, way]) => window(async () => runWay(run, host, way))));
}

async function runWay<Scope>(run: Run<Scope>, host: string | undefined, way: readonly Stretch<Scope>[]): Promise<void> {
  for (const stretch of way) {
    const { phase, progress, chain } = stretch;
    if (progressOf(run, host).out) {
      progress.skip();
      continue;
    }
    await stretch.limit(async () => {
      if (mayNotStart(run)) {
        stop(progressOf(run, host));
        progress.leave('cancelled');
        return;
      }
      progress.enter();
      const outcome = await runChain(run, phase, chain);
      if (outcome === 'failed' && phase.stopOnFailure === true) run.halted = true;
      progress.leave(outcome);
    });
  }
}

async function runChain<Scope>(run: Run<Scope>, phase: Phase<Scope>, chain: HostChain<Scope>): Promise<Outcome> {
  const progress = progressOf(run, chain.host);
  for (const step of chain.steps) {
    if (mayNotStart(run)) {
      stop(progress);
      return 'cancelled';
    }
    const place: StepPlace = {
      phase: phase.id,
      step: step.name,
      ...(chain.host === undefined ? {} : { host: chain.host }),
    };
    progress.at = place;
    const end = await runStep(run, place, step);
    note(progress, end);
    if (end.outcome !== 'done') return end.outcome;
  }
  progress.state = 'done';
  return 'done';
}

function note(progress: HostProgress, end: StepEnd): void {
  progress.changed ||= end.changed;
  if (end.outcome === 'done') return;
  progress.state = end.outcome === 'failed' ? 'failed' : 'stopped';
  progress.out = true;
  progress.error = end.error;
}

function mayNotStart(run: Pick<Run<never>, 'signal' | 'halted'>): boolean {
  return run.signal.aborted || run.halted;
}

function stop(progress: HostProgress): void {
  progress.state = progress.at === undefined ? 'untouched' : 'stopped';
  progress.out = true;
}

function progressOf(run: Pick<Run<never>, 'hosts'>, host: string | undefined): HostProgress {
  const progress = run.hosts.get(host);
  if (progress === undefined) throw new Error(`host ${String(host)} is in no phase`);
  return progress;
}

function hostsOf<Scope>(phases: readonly Phase<Scope>[]): Map<string | undefined, HostProgress> {
  const chains = phases.flatMap((phase) => phase.chains);
  return new Map(chains.map(({ host }) => [host, { host, state: 'untouched', out: false, changed: false }]));
}

function resultOf<Scope>(run: Run<Scope>, durationMs: number): OperationResult {
  const all = [...run.hosts.values()];
  const errors = all.flatMap(({ state, error }) => (state === 'failed' ? [error] : []));
  const stopped = run.signal.aborted && all.some(({ state }) => state === 'stopped' || state === 'untouched');
  // Whoever cancelled knows why the rest was not done, whatever failed before.
  const outcome: Outcome = stopped ? 'cancelled' : errors.length > 0 ? 'failed' : 'done';
  return {
    id: run.id,
    outcome,
    changed: all.some(({ changed }) => changed),
    hosts: all.map(hostState),
    errors,
    durationMs,
  };
}

function hostState({ host, state, changed, at, error }: HostProgress): HostState {
  return {
    ...(host === undefined ? {} : { host }),
    state,
    ...(at === undefined ? {} : { phase: at.phase, step: at.step }),
    changed,
    ...(state === 'failed' ? { error: toErrorReport(error) } : {}),
  };
}

/** The one error of an operation, for its last event; of several hosts the first stands for all. */
function errorOf(result: OperationResult): { error?: ReturnType<typeof toErrorReport> } {
  if (result.outcome === 'cancelled')
    return { error: toErrorReport(new BkeError('BKE_CANCELLED', 'stopped before it was done')) };
  return result.errors.length === 0 ? {} : { error: toErrorReport(result.errors[0]) };
}
