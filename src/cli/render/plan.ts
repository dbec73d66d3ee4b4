// The plan of a dry run: what would be done on each host; hosts with the same plan are told together.
import { listed, listedShort, plural } from '../../lib/text.ts';
import type { Theme } from '../theme.ts';
import type { EventOf } from './match.ts';
import type { Renderer } from './renderer.ts';
import { oneLine } from './words.ts';

type Planned = EventOf<'step.planned'>;
type Action = Planned['action'];

const marks: Readonly<Record<Action, string>> = { create: '+', change: '~', remove: '-', run: '>', keep: '=' };

/** Gathers planned events and writes the plan when the dry run ends. */
export function planRenderer(write: (text: string) => void, theme: Theme, verbosity: number): Renderer {
  let planned: Planned[] = [];
  let dryRun = false;
  return {
    handle: (event) => {
      if (event.type === 'operation.started') {
        dryRun = event.dryRun;
        planned = [];
      }
      if (event.type === 'step.planned') planned.push(event);
      if (event.type === 'operation.finished' && dryRun) write(renderPlan(planned, theme, verbosity));
    },
    line: () => {},
    close: () => {},
  };
}

/** @param verbosity from 1 on, what stays as it is is told too. */
export function renderPlan(planned: readonly Planned[], theme: Theme, verbosity: number): string {
  if (planned.every(({ action }) => action === 'keep')) return 'Plan: nothing to do, everything is as it should be.\n';
  const byHost = new Map<string, Planned[]>();
  for (const entry of planned) {
    const host = entry.host ?? '';
    const list = byHost.get(host);
    if (list === undefined) byHost.set(host, [entry]);
    else list.push(entry);
  }
  const byText = new Map<string, string[]>();
  for (const [host, entries] of byHost) {
    const text = hostPlan(entries, theme, verbosity);
    byText.set(text, [...(byText.get(text) ?? []), host]);
  }
  return [...byText].map(([text, hosts]) => `${theme.strong(headOf(hosts))}\n${text}`).join('\n');
}

function headOf(hosts: readonly string[]): string {
  const named = hosts.filter((host) => host !== '');
  if (named.length === 0) return 'Plan:';
  const count = named.length > 1 ? ` (${plural(named.length, 'host')})` : '';
  return `Plan for ${listedShort(named, 8)}${count}:`;
}

function hostPlan(entries: readonly Planned[], theme: Theme, verbosity: number): string {
  const paint: Readonly<Record<Action, (text: string) => string>> = {
    create: theme.good,
    change: theme.warning,
    remove: theme.bad,
    run: theme.accent,
    keep: theme.faint,
  };
  const shown = entries.filter(({ action }) => action !== 'keep' || verbosity >= 1);
  const lines = shown.map(({ action, what }) => `  ${paint[action](leadOf(action))} ${oneLine(what)}\n`);
  return `${lines.join('')}  ${countsOf(entries)}\n`;
}

/** What is run says itself what it does: `> push 12 images`. */
function leadOf(action: Action): string {
  return action === 'run' ? marks.run : `${marks[action]} ${action}`;
}

function countsOf(entries: readonly Planned[]): string {
  const counts = (['create', 'change', 'remove', 'run'] as const).flatMap((action) => {
    const count = entries.filter((entry) => entry.action === action).length;
    return count === 0 ? [] : [`${count} to ${action}`];
  });
  const kept = entries.filter(({ action }) => action === 'keep').length;
  const doing = counts.length === 0 ? 'nothing to do' : listed(counts);
  return kept === 0 ? doing : `${doing}; ${kept} ${kept === 1 ? 'stays as it is' : 'stay as they are'}`;
}
