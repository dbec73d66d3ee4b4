// Undoes what the ledger has, last made first, and lets the ledger itself go when nothing is left in it.
import type { LedgerResource } from '../../host/ledger/ledger.ts';
import { volumePaths } from '../../host/state/known-paths.ts';
import { isWithin } from '../../host/state/mounts.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import type { Step } from '../../operations/operation.ts';
import { writeLeftRecord } from './left-record.ts';
import { removeEmptied, removeProgram } from './remove-paths.ts';
import type { ResetScope } from './reset-scope.ts';
import { throwIncomplete } from './second-look.ts';
import { changePath, programResources } from './select.ts';

function seeCommand({ record: { last } }: LedgerResource): string {
  if (last.kind === 'unit') return `systemctl status ${last.name}`;
  if (last.kind === 'sysctl') return `sysctl ${last.name}`;
  const path = changePath(last);
  return path === undefined ? 'bke reset --dry-run' : `ls -lad ${path}; lsattr -d ${path}`;
}

async function undoOne(scope: ResetScope, resource: LedgerResource): Promise<boolean> {
  const { ledger, left, kept, flags } = scope.run;
  const outcome = await ledger.undo(resource, flags.purgeVolumes ? [] : volumePaths.map(({ path }) => path));
  const place = outcome.keptAt === undefined ? '' : `, kept in ${outcome.keptAt}`;
  if (outcome.result === 'left') {
    left.push({ what: resource.description, why: outcome.why ?? 'it could not be undone', see: seeCommand(resource) });
  }
  if (outcome.result === 'kept') {
    const item = { what: `${resource.description}${place}`, why: outcome.why ?? 'someone changed it after bke' };
    kept.push(item);
    // At once: the reset may not come to its end.
    if (outcome.keptAt !== undefined) scope.warn(`Kept: ${item.what} (${item.why})`);
  }
  return outcome.result !== 'already';
}

async function undoAll(scope: ResetScope, resources: readonly LedgerResource[]): Promise<void> {
  const { paths, unrecorded } = scope.run.selection;
  if (resources.length === 0) return;
  await scope.act(`undo ${plural(resources.length, 'recorded change')}`, async () => {
    let done = 0;
    for (const resource of resources) {
      if (scope.signal.aborted) throw new BkeError('BKE_CANCELLED', 'stopped between two changes');
      const { last } = resource.record;
      if (unrecorded.byName && last.kind === 'directory') {
        // Of a folder in it that the record lost nobody else takes care.
        await removeEmptied(
          scope,
          paths.filter(({ path }) => isWithin(path, last.path)),
        );
      }
      await undoOne(scope, resource);
      done += 1;
      scope.progress({ done, total: resources.length, unit: 'items' });
    }
  });
}

export const undoLedgerStep: Step<ResetScope> = {
  name: 'reset/ledger',
  title: 'Undo recorded changes',
  timeoutMs: 60 * 60_000,
  run: async (scope) => {
    const { resources } = scope.run.selection;
    const program = programResources(resources);
    await undoAll(
      scope,
      resources.filter((resource) => !program.has(resource)),
    );
  },
};

/** After the second look: while something is left, the same command has to run again, by this program. */
export const undoProgramStep: Step<ResetScope> = {
  name: 'reset/program',
  title: "Take bke's own program away",
  timeoutMs: 120_000,
  run: async (scope) => {
    const { resources } = scope.run.selection;
    const program = programResources(resources);
    await removeProgram(scope);
    await undoAll(
      scope,
      resources.filter((resource) => program.has(resource)),
    );
    await writeLeftRecord(scope.host, scope.run.left);
    throwIncomplete(scope.host, scope.run.left);
  },
};
