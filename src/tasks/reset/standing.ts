// What of bke a reset was not asked for and that stays on the host: by the record, and where that is lost by what bke marked.
import type { Scope } from '../../host/changes/change.ts';
import type { Host } from '../../host/host.ts';
import type { LedgerView } from '../../host/ledger/ledger.ts';
import { agentPaths } from '../agent/paths.ts';
import { isMarked, markablePaths } from './own-paths.ts';
import { type ResetFlags, resetScopes } from './reset-plan.ts';

/** Each with the flags that take it and nothing else beside what every reset takes. */
const optional = [
  ['enrol', { all: true, mount: false }],
  ['services', { all: false, mount: true }],
] as const;

/** A scope shares what others need as well; it stands where it was not asked for. */
export async function standingScopes(host: Host, ledger: LedgerView, flags: ResetFlags): Promise<Scope[]> {
  const asked = resetScopes(flags);
  const standing = new Set<Scope>(ledger.scopes.filter((scope) => !asked.includes(scope)));
  for (const [scope, only] of optional) {
    if (asked.includes(scope) || standing.has(scope)) continue;
    if (await isShown(host, { ...flags, ...only })) standing.add(scope);
  }
  return [...standing].sort();
}

async function isShown(host: Host, flags: ResetFlags): Promise<boolean> {
  if (flags.all && (await host.files.stat(agentPaths.stateDir)) !== undefined) return true;
  const always = new Set(markablePaths({ ...flags, all: false, mount: false }).map(({ path }) => path));
  for (const { path } of markablePaths(flags)) if (!always.has(path) && (await isMarked(host, path))) return true;
  return false;
}
