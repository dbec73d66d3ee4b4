// The plan of a reset in words: grouped, each line with the reason why it is ours to take away.
import { plural } from '../../lib/text.ts';
import type { ItemGroup, KeptItem, PlanItem, ResetPlan } from './reset-plan.ts';

const titles: Readonly<Record<ItemGroup, string>> = {
  units: 'Units',
  pods: 'Pods',
  mounts: 'Mounts (what is mounted stays as it is)',
  data: 'Data',
  network: 'Network',
  record: 'Files',
  ledger: 'Recorded changes, the last one first',
};
const groups = [
  'units',
  'pods',
  'mounts',
  'data',
  'network',
  'record',
  'ledger',
] as const satisfies readonly ItemGroup[];

/** Lines of one group shown before the rest is only counted; --dry-run shows all. */
const shown = 15;

export function itemText(item: PlanItem): string {
  return item.why === undefined ? item.what : `${item.what} (${item.why})`;
}

function groupLines(plan: ResetPlan, group: ItemGroup): string[] {
  const items = plan.items.filter((item) => item.group === group);
  if (items.length === 0) return [];
  const lines = items.slice(0, shown).map((item) => `  ${item.action} ${itemText(item)}`);
  const more = items.length - shown;
  return [`${titles[group]}:`, ...lines, ...(more > 0 ? [`  … and ${more} more, see --dry-run`] : [])];
}

export function keptLines(kept: readonly KeptItem[]): string[] {
  if (kept.length === 0) return [];
  return ['Stays:', ...kept.map(({ what, why }) => `  ${what} (${why})`)];
}

export function planLines(host: string, plan: ResetPlan): string[] {
  return [
    `Reset of ${host}, ${plural(plan.items.length, 'thing')} to take away or put back:`,
    ...groups.flatMap((group) => groupLines(plan, group)),
    ...keptLines([...plan.kept, ...plan.heldBack]),
    ...plan.notes,
  ];
}

interface Planned {
  readonly action: 'remove' | 'change' | 'run';
  readonly what: string;
}

function planned(item: PlanItem): Planned {
  const what = itemText(item);
  const { action } = item;
  return action === 'remove' || action === 'change' ? { action, what } : { action: 'run', what: `${action} ${what}` };
}

/** In the order they are carried out, for the events of a dry run. */
export function plannedItems(plan: ResetPlan): Planned[] {
  return groups.flatMap((group) => plan.items.filter((item) => item.group === group).map(planned));
}
