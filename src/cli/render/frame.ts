// The lines a terminal shows of a running operation: one for each phase, and below it only what needs attention.
import { formatDuration } from '../../lib/duration.ts';
import { plural, textWidth, truncate } from '../../lib/text.ts';
import type { Theme } from '../theme.ts';
import type { ActiveStep, OperationView, PhaseView } from './state.ts';
import { errorWords, hostPrefix, oneLine, progressWords, waitingWords } from './words.ts';

export interface FrameStyle {
  readonly now: number;
  readonly columns: number;
  readonly rows: number;
  readonly theme: Theme;
  /** Counts up with each frame. */
  readonly tick: number;
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Longer steps are named though nothing is wrong with them. */
const slowMs = 20_000;

/** Never more than rows - 1 lines, none longer than the terminal is wide. */
export function renderFrame(view: OperationView, style: FrameStyle): string[] {
  const room = Math.max(3, style.rows - 1);
  const shown = view.phases.filter((phase) => phase.state !== 'pending');
  for (const most of [5, 3, 2, 1, 0]) {
    const lines = shown.flatMap((phase) => phaseLines(phase, most, style));
    if (lines.length <= room) return lines;
  }
  // Too many phases: those that are over become one line.
  const over = shown.filter(({ state }) => state === 'done');
  const rest = shown.filter(({ state }) => state !== 'done').flatMap((phase) => phaseLines(phase, 0, style));
  const head = `${style.theme.good('✓')} ${plural(over.length, 'phase')} done`;
  return [...(over.length === 0 ? [] : [head]), ...rest].slice(-room);
}

function phaseLines(phase: PhaseView, most: number, style: FrameStyle): string[] {
  return [headLine(phase, style), ...detailLines(phase, most, style)];
}

function headLine(phase: PhaseView, style: FrameStyle): string {
  const { theme, now } = style;
  const time = formatDuration(phase.state === 'running' ? now - phase.since : phase.durationMs);
  const parts = [phase.title, ...counts(phase), time];
  const text = truncate(parts.join('  '), style.columns - 3);
  return `${mark(phase, style)} ${phase.state === 'running' ? theme.strong(text) : text}`;
}

function mark(phase: PhaseView, { theme, tick }: FrameStyle): string {
  const marks: Readonly<Record<Exclude<PhaseView['state'], 'pending'>, string>> = {
    done: theme.good('✓'),
    failed: theme.bad('✗'),
    cancelled: theme.warning('■'),
    running: theme.accent(spinner[tick % spinner.length] ?? '·'),
  };
  return phase.state === 'pending' ? ' ' : marks[phase.state];
}

/** 12/100 hosts, 2 failed; for one host or none the step it is at. */
function counts(phase: PhaseView): string[] {
  if (phase.hosts <= 1) {
    const [active] = phase.active.values();
    return active === undefined || active.title === phase.title ? [] : [`${active.title}…`];
  }
  // Hosts between two steps are counted as through for a moment; 'about' would be worse than that.
  const through = phase.seen.size - phase.active.size - phase.failed.length - phase.stopped;
  const failed = phase.failed.length === 0 ? '' : `, ${phase.failed.length} failed`;
  const stopped = phase.stopped === 0 ? '' : `, ${phase.stopped} stopped`;
  return [`${through}/${phase.hosts} hosts${failed}${stopped}`];
}

function detailLines(phase: PhaseView, most: number, style: FrameStyle): string[] {
  if (most === 0) return [];
  const failed = phase.failed
    .slice(0, most)
    .map((entry) =>
      style.theme.bad(
        detail(`✗ ${phase.hosts <= 1 ? '' : hostPrefix(entry.host)}${entry.title}: ${errorWords(entry.error)}`, style),
      ),
    );
  const active =
    phase.state === 'running' ? [...phase.active.values()].filter((step) => isWorthALine(phase, step, style)) : [];
  return [
    ...failed,
    ...moreLine(phase.failed.length - most, 'failed', style),
    ...active.slice(0, most).flatMap((step) => activeLines(phase, step, style)),
    ...moreLine(active.length - most, 'at work', style),
  ];
}

function moreLine(count: number, what: string, style: FrameStyle): string[] {
  return count > 0 ? [style.theme.faint(detail(`and ${count} more ${what}`, style))] : [];
}

/** Only steps that wait, or take long; of a single host also how far it is. */
function isWorthALine(phase: PhaseView, step: ActiveStep, { now }: FrameStyle): boolean {
  return step.waiting !== undefined || now - step.since >= slowMs || (phase.hosts <= 1 && step.progress !== undefined);
}

function activeLines(phase: PhaseView, step: ActiveStep, style: FrameStyle): string[] {
  const { theme, now } = style;
  const prefix = phase.hosts <= 1 ? '' : hostPrefix(step.host);
  if (step.waiting !== undefined) return waitingLines(prefix, step.waiting, style).map(theme.warning);
  const progress = step.progress === undefined ? '' : progressWords(step.progress);
  if (progress !== '' && phase.hosts <= 1) return [theme.faint(detail(progress, style))];
  const words = progress === '' ? step.title : `${step.title}: ${progress}`;
  return [theme.faint(detail(`${prefix}${words}, ${formatDuration(now - step.since)}`, style))];
}

/** Where to look meanwhile must not fall off the edge of a narrow terminal. */
function waitingLines(prefix: string, waiting: NonNullable<ActiveStep['waiting']>, style: FrameStyle): string[] {
  const whole = `${prefix}${waitingWords(waiting, style.now)}`;
  const { next, ...rest } = waiting;
  if (next === undefined || textWidth(whole) + 5 < style.columns) return [detail(whole, style)];
  return [detail(`${prefix}${waitingWords(rest, style.now)}`, style), detail(`  see: ${oneLine(next)}`, style)];
}

function detail(text: string, style: FrameStyle): string {
  return truncate(`    ${text}`, style.columns - 1);
}
