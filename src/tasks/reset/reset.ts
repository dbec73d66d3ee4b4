// A reset from the first look to the steps that carry it out (docs/adr/0006-reset-rules.md).
import type { Host } from '../../host/host.ts';
import { zonePathsBefore } from '../../host/changes/zone.ts';
import { originalPath } from '../../host/ledger/keeper.ts';
import { defaultStateDir, type LedgerView, readLedger } from '../../host/ledger/ledger.ts';
import { readHostState } from '../../host/state/state.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Phase, Step } from '../../operations/operation.ts';
import { throwIfAborted } from '../../operations/wait.ts';
import { claimNotes, readClaim } from './claim.ts';
import { clearNetworkStep } from './clear-network.ts';
import { endLeftoversStep, endPodsStep } from './end-pods.ts';
import { finishStep, stateFolders } from './finish.ts';
import { mountTopsOf, planReset } from './plan.ts';
import { givenBackBy } from './select.ts';
import { leftRecordPath } from './left-record.ts';
import { removeDataStep, removeFilesStep, removeUnrecordedStep } from './remove-paths.ts';
import { type KeptItem, type PlanItem, type ResetFlags, type ResetPlan, resetScopes } from './reset-plan.ts';
import type { ResetScope } from './reset-scope.ts';
import { secondLookStep } from './second-look.ts';
import { standingScopes } from './standing.ts';
import { stopNodeStep, stopOthersStep } from './stop-units.ts';
import { undoLedgerStep, undoProgramStep } from './undo-ledger.ts';
import { unmountStep } from './unmount.ts';
import { unrecordedOf } from './unrecorded.ts';

/** What earlier resets left is gone: so goes what told of it. */
async function leftRecordItem(host: Host, stillLeft: boolean): Promise<PlanItem[]> {
  if (stillLeft || (await host.files.stat(leftRecordPath)) === undefined) return [];
  return [{ group: 'ledger', action: 'remove', what: leftRecordPath, why: 'what it tells of is gone' }];
}

/** State of bke itself that no record names: journals, the ledger's own files. It goes when nothing of bke is to stay. @param named paths that go in any case */
async function stateItems(host: Host, flags: ResetFlags, named: ReadonlySet<string>): Promise<PlanItem[]> {
  const items: PlanItem[] = [];
  for (const name of ['ledger', ...stateFolders(flags)]) {
    const path = `${defaultStateDir}/${name}`;
    if (named.has(path) || (await host.files.stat(path)) === undefined) continue;
    items.push({ group: 'ledger', action: 'remove', what: path, why: "bke's own" });
  }
  return items;
}

/** What was in the zones before bke, also in those that an earlier reset has undone: others' mounts among it stay. A list that is lost is told when its zone is undone. */
async function pathsBefore(host: Host, ledger: LedgerView): Promise<string[]> {
  const found: string[] = [];
  for (const record of [...ledger.resources().map((resource) => resource.record), ...ledger.ended]) {
    const original = (digest: string): string => originalPath(defaultStateDir, digest);
    found.push(...(await zonePathsBefore(host, record, original).catch(() => [])));
  }
  return found;
}

/** What an earlier reset that did not come to its end has moved aside. */
async function keptBefore(host: Host, ledger: LedgerView): Promise<KeptItem[]> {
  const items: KeptItem[] = [];
  for (const { key, keptAt } of ledger.kept) {
    if ((await host.files.stat(keptAt)) === undefined) continue;
    items.push({ what: `${key}, kept in ${keptAt}`, why: 'it was edited, and an earlier reset moved it there' });
  }
  return items;
}

/** Reads the host and makes the plan; changes nothing. */
export async function prepareReset(host: Host, flags: ResetFlags, self: number): Promise<ResetPlan> {
  const ledger = await readLedger(host);
  const selected = ledger.resources(resetScopes(flags));
  const units = selected.flatMap(({ record: { last } }) => (last.kind === 'unit' ? [last.name] : []));
  const { paths, unrecorded } = await unrecordedOf(host, ledger, { flags });
  const state = await readHostState(host, {
    units,
    paths,
    tops: mountTopsOf(flags, selected),
    pid: self,
  });
  const before = new Set(await pathsBefore(host, ledger));
  const earlierMounts = state.mounts.map(({ mountPoint }) => mountPoint).filter((path) => before.has(path));
  const { otherMachine } = ledger;
  const input = { otherMachine, selected, all: ledger.resources(), givenBack: givenBackBy(ledger), earlierMounts };
  const plan = planReset({ flags, state, unrecorded, ledger: input }, self);
  const standing = await standingScopes(host, ledger, flags);
  const named = new Set(plan.selection.paths.map(({ path }) => path));
  return {
    ...plan,
    items: [
      ...plan.items,
      ...(await leftRecordItem(host, plan.items.length + plan.heldBack.length > 0)),
      ...(standing.length > 0 ? [] : await stateItems(host, flags, named)),
    ],
    standing,
    kept: [...plan.kept, ...(await keptBefore(host, ledger))],
    damaged: ledger.damaged,
    notes: claimNotes(await readClaim(host), flags),
  };
}

/** @throws BkeError BKE_RESET_REFUSED naming everything that stands in the way. */
export function throwIfRefused(host: Host, plan: ResetPlan): void {
  const [first] = plan.refusals;
  if (first === undefined) return;
  throw new BkeError('BKE_RESET_REFUSED', 'the reset did not begin', {
    host: host.name,
    details: plan.refusals.map(({ what, why, hint }) => `${what}: ${why}. ${hint}`),
    hint: first.hint,
  });
}

/** Kubernetes first, from what starts things to what they left; then the record, last made first; then the look at what is there. */
const steps: readonly Step<ResetScope>[] = [
  stopNodeStep,
  endPodsStep,
  stopOthersStep,
  endLeftoversStep,
  unmountStep,
  removeDataStep,
  clearNetworkStep,
  removeUnrecordedStep,
  undoLedgerStep,
  removeFilesStep,
  secondLookStep,
  undoProgramStep,
  finishStep,
];

/** All of them as one step of another operation, which bounds them. */
export async function runResetSteps(scope: ResetScope): Promise<void> {
  for (const step of steps) {
    throwIfAborted(scope.signal);
    scope.progress({ message: step.title });
    await step.run(scope);
  }
}

export function resetPhases(host: string): Phase<ResetScope>[] {
  return [{ id: 'reset', title: 'Reset', chains: [{ host, steps }], stopOnFailure: true }];
}
