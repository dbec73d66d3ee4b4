// How events are put in words; the terminal and the plain renderer say the same.
import type { Outcome } from '../../api/events.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { ErrorReport } from '../../lib/errors.ts';
import { visible } from '../../lib/text.ts';
import type { EventOf } from './match.ts';
import type { OperationView } from './state.ts';

/** 'w7: ', or nothing for work that belongs to no host. */
export function hostPrefix(host: string | undefined): string {
  return host === undefined ? '' : `${host}: `;
}

/** As hostPrefix; of an operation on one host nothing, as its name would be said in every line. */
export function prefixOf(view: OperationView, host: string | undefined): string {
  return view.hosts === 1 ? '' : hostPrefix(host);
}

/** 'init of this host', 'bundle build of bundle.tar'. */
export function operationWords({ action, target }: Pick<OperationView, 'action' | 'target'>): string {
  return `${action.replace('.', ' ')} of ${target}`;
}

/** waiting 12s for the registry to answer: connection refused; see: journalctl -u bke-registry */
export function waitingWords(event: EventOf<'step.waiting'>, now: number): string {
  const cause = event.cause === undefined ? '' : `: ${event.cause}`;
  const next = event.next === undefined ? '' : `; see: ${event.next}`;
  return oneLine(`waiting ${formatDuration(now - Date.parse(event.since))} for ${event.for}${cause}${next}`);
}

/** push images, 45% (3.2 GiB of 7.1 GiB) */
export function progressWords(event: EventOf<'step.progress'>): string {
  return oneLine([event.message, amount(event)].filter((part) => part !== undefined).join(', '));
}

function amount({ done, total, unit }: EventOf<'step.progress'>): string | undefined {
  if (done === undefined) return undefined;
  const show = (value: number): string => (unit === 'bytes' ? formatBytes(value) : String(value));
  if (total === undefined || total <= 0) return show(done);
  return `${Math.floor((100 * Math.min(done, total)) / total)}% (${show(done)} of ${show(total)})`;
}

/** What was stopped is no error: its message tells where. */
export function errorWords({ code, message }: ErrorReport): string {
  return oneLine(code === 'BKE_CANCELLED' ? message : `error[${code}] ${message}`);
}

const outcomes: Readonly<Record<Outcome, string>> = { done: 'done', failed: 'FAILED', cancelled: 'stopped' };

/** Operations that only look: that they end well is their result. */
const results: Readonly<Record<string, string>> = {
  'bundle.verify': 'is whole',
  'host.check': 'can be used',
};

/** How a step ended that did not fail. */
export function stepWord(
  { dryRun }: Pick<OperationView, 'dryRun'>,
  { changed, found }: Pick<EventOf<'step.finished'>, 'changed' | 'found'>,
): string {
  if (changed) return dryRun ? 'nothing to do' : 'done';
  return found ?? 'nothing to do';
}

/** init of this host done after 3m04s, nothing had to be changed; bundle.tar is whole, after 4s */
export function finishedWords(
  view: Pick<OperationView, 'action' | 'target'>,
  event: EventOf<'operation.finished'>,
): string {
  const time = `after ${formatDuration(event.durationMs)}`;
  const word = event.outcome === 'done' ? results[view.action] : undefined;
  if (word !== undefined) return `${view.target} ${word}, ${time}`;
  const unchanged = event.outcome === 'done' && !event.changed ? ', nothing had to be changed' : '';
  return `${operationWords(view)} ${outcomes[event.outcome]} ${time}${unchanged}`;
}

export function outcomeWord(outcome: Outcome): string {
  return outcomes[outcome];
}

export function oneLine(text: string): string {
  return visible(text.replaceAll(/[ \t\r\n]+/g, ' ').trim(), 2000);
}
