// The second look after a reset: everything is read again, and 'clean' is only said when nothing is found.
import type { Host } from '../../host/host.ts';
import { isKubernetesChain } from '../../host/state/iptables.ts';
import { readHostState } from '../../host/state/state.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import type { Step } from '../../operations/operation.ts';
import { mountTopsOf, planReset } from './plan.ts';
import { isInstalledProgram } from './former-program.ts';
import { writeLeftRecord } from './left-record.ts';
import type { ItemGroup, Left, PlanItem, ResetPlan } from './reset-plan.ts';
import type { ResetRun, ResetScope } from './reset-scope.ts';
import { givenBackBy } from './select.ts';
import { unrecordedOf } from './unrecorded.ts';

const seeCommands: Readonly<Record<ItemGroup, string>> = {
  units: 'systemctl list-units --all',
  pods: 'ps -eo pid,cgroup,args',
  mounts: 'findmnt',
  data: 'bke reset --dry-run',
  network: 'ip -d link; iptables-save; nft list ruleset',
  record: 'bke reset --dry-run',
  ledger: 'bke reset --dry-run',
};

/** The plan another reset would make now, without what the ledger answers for on paths it has just restored, and without the program, which goes last. */
async function planAgain(run: ResetRun): Promise<ResetPlan> {
  const { host, flags, self, ledger, selection } = run;
  const { byName, answered } = selection.unrecorded;
  const { paths, unrecorded } = await unrecordedOf(host, ledger, { flags, byName, givenBack: new Set(answered) });
  const state = await readHostState(host, {
    units: [],
    paths,
    tops: mountTopsOf(flags, selection.resources),
    pid: self,
  });
  const uncovered = state.paths.filter(({ path }) => !selection.coveredPaths.has(path) && !isInstalledProgram(path));
  return planReset(
    {
      flags,
      state: { ...state, paths: uncovered },
      unrecorded,
      ledger: {
        otherMachine: ledger.otherMachine,
        selected: [],
        all: ledger.resources(),
        givenBack: givenBackBy(ledger),
        earlierMounts: [...selection.keptMounts],
      },
    },
    self,
  );
}

/** Raw text of the kernel's own lists, looked through by name alone: a fault in the reading above would show here. */
async function rawTraces(host: Host): Promise<Left[]> {
  const found: Left[] = [];
  for (const program of ['iptables-save', 'ip6tables-save']) {
    const result = await host.run([program], { timeoutMs: 20_000 });
    const names = [...result.stdout.matchAll(/^:(\S+) -/gm)]
      .flatMap((match) => match[1] ?? [])
      .filter(isKubernetesChain);
    if (names.length > 0) {
      found.push({ what: `${plural(names.length, 'chain')} (${names[0] ?? ''}, …)`, why: 'still there', see: program });
    }
  }
  return found;
}

function explained(item: PlanItem, left: readonly Left[]): Left {
  const known = left.find(({ what }) => item.what.startsWith(what) || what.startsWith(item.what));
  return known ?? { what: item.what, why: 'still there', see: seeCommands[item.group] };
}

/** What really stays: the steps' own words where they have some, and only what is still so. */
async function whatStays(run: ResetRun): Promise<Left[]> {
  const again = await planAgain(run);
  const stays = new Map<string, Left>();
  for (const left of [
    ...run.left,
    ...again.items.map((item) => explained(item, run.left)),
    ...(await rawTraces(run.host)),
  ]) {
    if (!stays.has(left.what)) stays.set(left.what, left);
  }
  return [...stays.values()];
}

/** @throws BkeError BKE_RESET_INCOMPLETE */
export function throwIncomplete(host: Host, stays: readonly Left[]): void {
  if (stays.length === 0) return;
  throw new BkeError('BKE_RESET_INCOMPLETE', `${plural(stays.length, 'thing')} could not be taken away`, {
    host: host.name,
    details: stays.flatMap(({ what, why, see }) => [`${what}: ${why}`, `  see: ${see}`]),
    hint: 'Mend what is named, then run the same command again: it goes on with the rest.',
  });
}

export const secondLookStep: Step<ResetScope> = {
  name: 'reset/second-look',
  title: 'Look again',
  timeoutMs: 120_000,
  run: async (scope) => {
    const stays = await whatStays(scope.run);
    await writeLeftRecord(scope.host, stays);
    throwIncomplete(scope.host, stays);
  },
};
