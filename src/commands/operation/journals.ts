// Reads journals for the operation commands.
import type { OperationEvent } from '../../api/events.ts';
import { formatDuration } from '../../lib/duration.ts';
import { BkeError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';
import { timeText } from '../../lib/time-text.ts';
import { listJournals, readJournal } from '../../operations/journal.ts';

export interface OperationSummary {
  readonly name: string;
  readonly action: string;
  readonly target: string;
  /** 'not finished' while it runs, and where its process died. */
  readonly outcome: string;
  /** RFC 3339, with milliseconds: their order within a second. */
  readonly started: string;
  /** The same for people. */
  readonly when: string;
  readonly took: string;
  readonly events: number;
}

/** The newest `most`, oldest first, and how many there are. */
export async function operationSummaries(
  directory: string | undefined,
  most: number,
): Promise<{ readonly items: readonly OperationSummary[]; readonly kept: number }> {
  const ids = directory === undefined ? [] : await listJournals(directory);
  if (directory === undefined || ids.length === 0) return { items: [], kept: 0 };
  // Ids tell the second only, so all of the second of the oldest wanted one are looked at.
  const oldest = secondOf(ids[Math.max(0, ids.length - most)] ?? '');
  const wanted = ids.filter((id) => secondOf(id) >= oldest);
  const summaries: OperationSummary[] = [];
  for (const id of wanted) summaries.push(await summaryOf(directory, id));
  // The second of the id comes first: a journal that a crash left empty has no event to go by.
  const order = (a: OperationSummary, b: OperationSummary): number =>
    compare(secondOf(a.name), secondOf(b.name)) || compare(a.started, b.started) || compare(a.name, b.name);
  const ordered = summaries.toSorted(order);
  return { items: ordered.slice(-Math.min(most, ordered.length)), kept: ids.length };
}

/** 20261130-101500 */
function secondOf(id: string): string {
  return id.slice(0, 15);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function summaryOf(directory: string, id: string): Promise<OperationSummary> {
  let first: OperationEvent | undefined;
  let last: OperationEvent | undefined;
  let events = 0;
  for await (const event of readJournal(directory, id)) {
    first ??= event;
    last = event;
    events += 1;
  }
  const started = first?.time ?? '';
  const when = timeText(started);
  return { name: id, ...beginning(first), ...ending(last), started, when, events };
}

function beginning(first: OperationEvent | undefined): { action: string; target: string } {
  if (first?.type !== 'operation.started') return { action: '', target: '' };
  return { action: first.action, target: first.target };
}

function ending(last: OperationEvent | undefined): { outcome: string; took: string } {
  if (last?.type !== 'operation.finished') return { outcome: 'not finished', took: '' };
  return { outcome: last.outcome, took: last.durationMs < 50 ? '<0.1s' : formatDuration(last.durationMs) };
}

/**
 * Every event with `what`, a few words for people.
 * @throws BkeError BKE_OPERATION_UNKNOWN
 */
export async function operationEvents(directory: string | undefined, id: string): Promise<object[]> {
  const ids = directory === undefined ? [] : await listJournals(directory);
  if (directory === undefined || !ids.includes(id)) {
    throw unknownOperation(id, 'on this machine', ids);
  }
  const events: object[] = [];
  for await (const event of readJournal(directory, id)) events.push(withWords(event));
  return events;
}

/** @param where it was looked for. @param ids those that are there */
export function unknownOperation(id: string, where: string, ids: readonly string[]): BkeError {
  const meant = nearest(id, ids);
  const list = "'bke operation list' shows those that are there.";
  return new BkeError('BKE_OPERATION_UNKNOWN', `there is no operation '${id}' ${where}`, {
    hint: meant === undefined ? list : `Did you mean '${meant}'? ${list}`,
  });
}

export async function isJournal(directory: string | undefined, id: string): Promise<boolean> {
  return directory !== undefined && (await listJournals(directory)).includes(id);
}

/** With `what`, a few words for people. */
export function withWords(event: OperationEvent): object {
  return { ...event, what: wordsOf(event) };
}

export function wordsOf(event: OperationEvent): string {
  const parts: string[] = [];
  if ('title' in event) parts.push(event.title);
  if ('target' in event) parts.push(`${event.action} of ${event.target}`);
  if ('message' in event && event.message !== undefined) parts.push(event.message);
  if (event.type === 'step.waiting') parts.push(`${event.for}${event.cause === undefined ? '' : `: ${event.cause}`}`);
  if (event.type === 'step.failed') parts.push(`error[${event.error.code}] ${event.error.message}`);
  if ('outcome' in event) parts.push(event.outcome);
  if ('durationMs' in event) parts.push(`after ${formatDuration(event.durationMs)}`);
  return parts.join(', ');
}
