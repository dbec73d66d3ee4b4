// What an operation looks like now, gathered from its events; every event costs the same, however many hosts there are.
import type { OperationEvent, Outcome } from '../../api/events.ts';
import type { ErrorReport } from '../../lib/errors.ts';
import { type EventCases, type EventOf, matchEvent } from './match.ts';

export interface ActiveStep {
  /** Undefined for work that belongs to no host. */
  readonly host: string | undefined;
  readonly phase: string;
  readonly step: string;
  readonly title: string;
  /** ms since 1970 */
  readonly since: number;
  progress?: EventOf<'step.progress'>;
  waiting?: EventOf<'step.waiting'>;
}

interface FailedStep {
  readonly host: string | undefined;
  readonly title: string;
  readonly error: ErrorReport;
}

export interface PhaseView {
  readonly id: string;
  readonly title: string;
  state: 'pending' | 'running' | Outcome;
  since: number;
  durationMs: number;
  /** Hosts that take part; 0 for work that belongs to none. */
  hosts: number;
  /** By host, '' for none. */
  readonly active: Map<string, ActiveStep>;
  readonly failed: FailedStep[];
  /** Hosts stopped in the middle by a cancel. */
  stopped: number;
  /** Hosts seen in this phase. */
  readonly seen: Set<string>;
}

export interface OperationView {
  id: string;
  action: string;
  target: string;
  dryRun: boolean;
  hosts: number;
  readonly phases: PhaseView[];
  /** Titles of the steps that began, by their name. */
  readonly titles: Map<string, string>;
  finished: EventOf<'operation.finished'> | undefined;
}

export function emptyView(): OperationView {
  return {
    id: '',
    action: '',
    target: '',
    dryRun: false,
    hosts: 0,
    phases: [],
    titles: new Map(),
    finished: undefined,
  };
}

/** Changes `view` to what is so after the event. */
export function applyEvent(view: OperationView, event: OperationEvent): void {
  matchEvent(event, changes(view));
}

function changes(view: OperationView): EventCases<void> {
  return {
    'operation.started': (event) => {
      Object.assign(view, emptyView());
      view.id = event.operation;
      view.action = event.action;
      view.target = event.target;
      view.dryRun = event.dryRun;
      view.hosts = event.hosts.length;
      view.phases.push(...event.phases.map(({ id, title }) => newPhase(id, title)));
    },
    'phase.started': (event) => {
      const phase = phaseOf(view, event.phase, event.title);
      phase.state = 'running';
      phase.since = Date.parse(event.time);
      phase.hosts = event.hosts.length;
    },
    'phase.finished': (event) => {
      const phase = phaseOf(view, event.phase);
      phase.state = event.outcome;
      phase.durationMs = event.durationMs;
      phase.active.clear();
    },
    'step.started': (event) => {
      const { host, step, title } = event;
      const phase = phaseOf(view, event.phase);
      phase.seen.add(host ?? '');
      view.titles.set(step, title);
      phase.active.set(host ?? '', { host, phase: phase.id, step, title, since: Date.parse(event.time) });
    },
    'step.progress': (event) => {
      const active = phaseOf(view, event.phase).active.get(event.host ?? '');
      if (active === undefined) return;
      active.progress = event;
      delete active.waiting;
    },
    'step.waiting': (event) => {
      const active = phaseOf(view, event.phase).active.get(event.host ?? '');
      if (active !== undefined) active.waiting = event;
    },
    'step.planned': () => {},
    'step.finished': (event) => void phaseOf(view, event.phase).active.delete(event.host ?? ''),
    'step.failed': (event) => {
      const phase = phaseOf(view, event.phase);
      phase.active.delete(event.host ?? '');
      if (event.error.code === 'BKE_CANCELLED') phase.stopped += 1;
      else phase.failed.push({ host: event.host, title: stepTitle(view, event.step), error: event.error });
    },
    note: () => {},
    'operation.finished': (event) => {
      view.finished = event;
    },
  };
}

/** For people; the name where the beginning of the step was not seen. */
export function stepTitle(view: OperationView, step: string): string {
  return view.titles.get(step) ?? step;
}

/** A phase that was not announced is added: a journal may be cut at its beginning. */
function phaseOf(view: OperationView, id: string, title = id): PhaseView {
  const known = view.phases.find((phase) => phase.id === id);
  if (known !== undefined) return known;
  const phase = newPhase(id, title);
  view.phases.push(phase);
  return phase;
}

/** One that nothing has happened in. */
export function newPhase(id: string, title: string): PhaseView {
  return {
    id,
    title,
    state: 'pending',
    since: 0,
    durationMs: 0,
    hosts: 0,
    active: new Map(),
    failed: [],
    stopped: 0,
    seen: new Set(),
  };
}
