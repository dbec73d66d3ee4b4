// What an operation was held by, step by step, out of its events: from its end back, each time the step that ended last before and began last.
import type { OperationEvent } from '../../src/api/events.ts';

export interface Span {
  /** Absent for what belongs to no host. */
  readonly host: string | undefined;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/** A step is seen to begin a moment after the one that it waited for was seen to end, or a moment before. */
const slackMs = 2500;

/** Events as a command writes them with `-o json`; lines that are none are left out. */
export function parseEvents(text: string): OperationEvent[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): OperationEvent => JSON.parse(line));
}

/** The steps that came to an end. */
export function spansOf(events: readonly OperationEvent[]): Span[] {
  const titles = new Map<string, string>();
  const spans: Span[] = [];
  for (const event of events) {
    if (event.type === 'step.started') titles.set(`${event.phase}/${event.step}/${event.host}`, event.title);
    if (event.type !== 'step.finished') continue;
    const end = Date.parse(event.time);
    const title = titles.get(`${event.phase}/${event.step}/${event.host}`) ?? event.step;
    spans.push({ host: event.host, title, start: end - event.durationMs, end });
  }
  return spans;
}

/** First to last; what is between two of them nobody told of. */
export function criticalPath(spans: readonly Span[]): Span[] {
  const path: Span[] = [];
  let left = [...spans];
  let until = Math.max(...left.map(({ end }) => end));
  for (;;) {
    // What ran beside the step that was chosen last did not hold it.
    left = left.filter(({ start, end }) => (start + end) / 2 < until && end <= until + slackMs);
    const last = Math.max(...left.map(({ end }) => end));
    const next = left.filter(({ end }) => end >= last - slackMs).toSorted((a, b) => b.start - a.start)[0];
    if (next === undefined) return path;
    path.unshift(next);
    left = left.filter((span) => span !== next);
    until = next.start;
  }
}
