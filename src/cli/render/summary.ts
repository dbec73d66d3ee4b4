// The last lines of an operation for people: how it ended, where to read more, and what to type next.
import type { Theme } from '../theme.ts';
import type { OperationView } from './state.ts';
import { finishedWords } from './words.ts';

export function summaryLines(view: OperationView, theme: Theme): string[] {
  const event = view.finished;
  // The only event of its operation: nothing was to do, and whoever found that has told it.
  if (event === undefined || view.dryRun || event.seq === 1) return [];
  const paint = { done: theme.good, failed: theme.bad, cancelled: theme.warning }[event.outcome];
  const lines = [paint(finishedWords(view, event))];
  if (event.outcome !== 'done') lines.push(theme.faint(`details: bke operation show ${event.operation}`));
  if (event.next.length > 0) lines.push('next:', ...event.next.map((command) => `  ${command}`));
  return lines;
}
