// What a plan made under the lock has that the confirmed one had not: nobody said yes to that.
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { itemText } from './plan-text.ts';
import type { ItemGroup, PlanItem, ResetPlan } from './reset-plan.ts';

/** Units, pods and what they bring into the network change by themselves on a host at work, and are Kubernetes' by their names. */
const compared: ReadonlySet<ItemGroup> = new Set(['data', 'mounts', 'record', 'ledger']);

function keyOf({ group, action, what }: PlanItem): string {
  return JSON.stringify([group, action, what]);
}

function addedItems(confirmed: ResetPlan, now: ResetPlan): PlanItem[] {
  const known = new Set(confirmed.items.map(keyOf));
  return now.items.filter((item) => compared.has(item.group) && item.passing === undefined && !known.has(keyOf(item)));
}

/** @throws BkeError BKE_RESET_CHANGED with everything that came since. */
export function throwIfMore(host: Host, confirmed: ResetPlan, now: ResetPlan): void {
  const added = addedItems(confirmed, now);
  if (added.length === 0) return;
  throw new BkeError('BKE_RESET_CHANGED', `${plural(added.length, 'thing')} came since the plan was shown`, {
    host: host.name,
    details: added.map((item) => `${item.action} ${itemText(item)}`),
    hint: 'Nothing was changed. Run the same command again and look at the plan anew.',
  });
}
