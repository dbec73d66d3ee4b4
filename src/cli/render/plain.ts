// Progress for logs and CI: one line with the time for each event, and a sign of life when nothing happens.
import type { OperationEvent, StepPlace } from '../../api/events.ts';
import { formatDuration } from '../../lib/duration.ts';
import { plural } from '../../lib/text.ts';
import { timeText } from '../../lib/time-text.ts';
import type { OutputStream } from '../io.ts';
import { createTheme } from '../theme.ts';
import { matchEvent } from './match.ts';
import type { Renderer } from './renderer.ts';
import { type ActiveStep, applyEvent, emptyView, type OperationView, stepTitle } from './state.ts';
import { summaryLines } from './summary.ts';
import {
  errorWords,
  oneLine,
  operationWords,
  outcomeWord,
  prefixOf,
  progressWords,
  stepWord,
  waitingWords,
} from './words.ts';

export interface PlainOptions {
  readonly stream: OutputStream;
  readonly now: () => Date;
  /** 0: steps as they end; 1: as they start too; 2: all they tell. */
  readonly verbosity: number;
}

const heartbeatMs = 30_000;
/** After a line of what a step waits for the next one comes so much later, then twice that, and so on. */
const firstPauseMs = 5000;
const longestPauseMs = 60_000;

export function plainRenderer(options: PlainOptions): Renderer {
  const { stream, now } = options;
  const view = emptyView();
  let last = now().getTime();
  let timer: NodeJS.Timeout | undefined;
  const paced = createPacer(options.verbosity);
  const write = (line: string, time: Date): void => {
    last = now().getTime();
    stream.write(`${timeText(time)} ${line}\n`);
  };
  const beat = (): void => {
    if (now().getTime() - last >= heartbeatMs - 500) write(heartbeatLine(view, now().getTime()), now());
  };
  return {
    handle: (event) => {
      applyEvent(view, event);
      timer ??= setInterval(beat, heartbeatMs / 6).unref();
      const told = paced(event);
      if (told === undefined) return;
      for (const line of eventLines(told, view, options.verbosity)) write(line, new Date(event.time));
      if (event.type === 'operation.finished') clearInterval(timer);
    },
    line: (text) => void stream.write(`${text}\n`),
    close: () => clearInterval(timer),
  };
}

/** Of a step that goes on waiting ever fewer lines, and only once what to do meanwhile: the newest cause is in every sign of life. */
function createPacer(verbosity: number): (event: OperationEvent) => OperationEvent | undefined {
  const paces = new Map<string, { due: number; pauseMs: number }>();
  return (event) => {
    if (event.type !== 'step.waiting' || verbosity >= 1) return event;
    const key = JSON.stringify([event.host, event.phase, event.step, event.since]);
    const at = Date.parse(event.time);
    const pace = paces.get(key);
    if (pace !== undefined && at < pace.due) return undefined;
    const pauseMs = pace?.pauseMs ?? firstPauseMs;
    paces.set(key, { due: at + pauseMs, pauseMs: Math.min(2 * pauseMs, longestPauseMs) });
    const { next, ...rest } = event;
    return pace === undefined && next !== undefined ? event : rest;
  };
}

/** What is said of an event; nothing where the verbosity is too low for it. */
function eventLines(event: OperationEvent, view: OperationView, verbosity: number): string[] {
  const step = (place: StepPlace, words: string): string[] => [
    `${prefixOf(view, place.host)}${oneLine(stepTitle(view, place.step))}: ${words}`,
  ];
  // A dry run does nothing and keeps no journal: it neither tells what is done nor names an operation; its plan tells all.
  const silent = view.dryRun && verbosity === 0;
  return matchEvent<OperationEvent['type'], string[]>(event, {
    'operation.started': (e) => [operationWords(e) + (e.dryRun ? ' (dry run)' : `, operation ${e.operation}`)],
    'phase.started': (e) =>
      silent ? [] : [`== ${e.title}${e.hosts.length > 1 ? ` on ${plural(e.hosts.length, 'host')}` : ''}`],
    'phase.finished': (e) =>
      silent ? [] : [`== ${titleOf(view, e.phase)}: ${outcomeWord(e.outcome)} after ${formatDuration(e.durationMs)}`],
    'step.started': (e) => (verbosity >= 1 ? step(e, `begins, at most ${formatDuration(e.timeoutMs)}`) : []),
    'step.progress': (e) => (verbosity >= 2 ? step(e, progressWords(e)) : []),
    'step.waiting': (e) => step(e, waitingWords(e, Date.parse(e.time))),
    'step.planned': () => [],
    'step.finished': (e) => (silent ? [] : step(e, `${stepWord(view, e)} after ${formatDuration(e.durationMs)}`)),
    'step.failed': (e) => {
      const word = outcomeWord(e.error.code === 'BKE_CANCELLED' ? 'cancelled' : 'failed');
      return step(e, `${word} after ${formatDuration(e.durationMs)}: ${errorWords(e.error)}`);
    },
    note: (e) => [`${e.level === 'warning' ? 'warning: ' : ''}${prefixOf(view, e.host)}${oneLine(e.message)}`],
    'operation.finished': () => summaryLines(view, createTheme(false)),
  });
}

/** Says who is at work, and names the one that has been at it longest. */
function heartbeatLine(view: OperationView, now: number): string {
  const active = view.phases.flatMap((phase) => [...phase.active.values()]);
  const [first] = active.toSorted((a, b) => a.since - b.since);
  if (first === undefined) return 'still running';
  const more = active.length > 1 ? `, ${active.length - 1} more at work` : '';
  return `still running: ${prefixOf(view, first.host)}${oneLine(first.title)} for ${formatDuration(now - first.since)}${situation(first, now)}${more}`;
}

function situation(active: ActiveStep, now: number): string {
  if (active.waiting !== undefined) return `, ${waitingWords(active.waiting, now)}`;
  const words = active.progress === undefined ? '' : progressWords(active.progress);
  return words === '' ? '' : `, ${words}`;
}

function titleOf(view: OperationView, id: string): string {
  return view.phases.find((phase) => phase.id === id)?.title ?? id;
}
