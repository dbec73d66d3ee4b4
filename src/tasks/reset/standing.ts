// What of bke a reset was not asked for and that stays on the host: by the record, and where that is lost by what bke marked.
import type { Scope } from '../../host/changes/change.ts';
import { markedLines } from '../../host/changes/hosts-entry.ts';
import type { Host } from '../../host/host.ts';
import type { LedgerView } from '../../host/ledger/ledger.ts';
import { agentPaths } from '../agent/paths.ts';
import { isMarked, markablePaths } from './own-paths.ts';
import { type ResetFlags, resetScopes } from './reset-plan.ts';

/** A scope shares what others need as well; it stands where it was not asked for. */
export async function standingScopes(host: Host, ledger: LedgerView, flags: ResetFlags): Promise<Scope[]> {
  const asked = resetScopes(flags);
  const standing = new Set<Scope>(ledger.scopes.filter((scope) => !asked.includes(scope)));
  if (!flags.mount && (await servicesStand(host, ledger))) standing.add('services');
  if (flags.all || standing.has('enrol')) return [...standing].sort();
  // What the services need too tells nothing of the host's own part in a site.
  const alone = !standing.has('services') && !flags.mount;
  if (await isEnrolled(host, { alone })) standing.add('enrol');
  return [...standing].sort();
}

/** Whether the local services are on the host, by the record or by what bke marked. */
export async function servicesStand(host: Host, ledger: LedgerView): Promise<boolean> {
  return ledger.scopes.includes('services') || isShown(host, { all: false, mount: true });
}

async function isEnrolled(host: Host, { alone }: { readonly alone: boolean }): Promise<boolean> {
  if ((await host.files.stat(agentPaths.stateDir)) !== undefined) return true;
  if (await isShown(host, { all: true, mount: false })) return true;
  return alone && (await markedLines(host).catch(() => [])).length > 0;
}

/** @param only the flags that take it, and nothing else beside what every reset takes */
async function isShown(host: Host, only: Pick<ResetFlags, 'all' | 'mount'>): Promise<boolean> {
  const flags = { ...only, purgeVolumes: false };
  const always = new Set(markablePaths({ ...flags, all: false, mount: false }).map(({ path }) => path));
  for (const { path } of markablePaths(flags)) if (!always.has(path) && (await isMarked(host, path))) return true;
  return false;
}
