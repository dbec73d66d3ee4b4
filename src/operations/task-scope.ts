// The scope of a task on the machine bke runs on: changes go through its ledger, or in a dry run are only told.
import type { Change, Scope } from '../host/changes/change.ts';
import type { Host } from '../host/host.ts';
import type { Ledger, LedgerView } from '../host/ledger/ledger.ts';
import type { StepBinding } from './operation.ts';
import type { TaskScope } from './scope.ts';
import { throwIfAborted, waitUntil } from './wait.ts';

interface ScopeOptions {
  readonly host: Host;
  /** Whose reset undoes the changes. */
  readonly scope: Scope;
  readonly now: () => Date;
  /** One line for a plan: what a change is about. */
  readonly describe: (change: Change) => string;
}

export type TaskScopeOptions = ScopeOptions &
  (
    | { readonly dryRun: false; readonly ledger: Pick<Ledger, 'apply'> }
    | { readonly dryRun: true; readonly ledger: Pick<LedgerView, 'observe'> }
  );

export function createTaskScope(options: TaskScopeOptions, binding: StepBinding): TaskScope {
  const { host, now } = options;
  const { signal } = binding;
  return {
    host,
    signal,
    dryRun: options.dryRun,
    apply: async (change) => {
      // Between two changes it is safe to stop: each is in the ledger by itself.
      throwIfAborted(signal);
      return options.dryRun ? planChange(options, binding, change) : applyChange(options, binding, change);
    },
    act: async (what, action) => {
      throwIfAborted(signal);
      if (options.dryRun) {
        binding.emit({ type: 'step.planned', action: 'run', what });
        binding.changed();
        return;
      }
      binding.emit({ type: 'step.progress', message: what });
      if ((await action()) !== false) binding.changed();
    },
    progress: (progress) => binding.emit({ type: 'step.progress', ...progress }),
    warn: (message) => binding.emit({ type: 'note', level: 'warning', message }),
    wait: async (wait) => {
      if (!options.dryRun) await waitUntil(binding, now, wait);
    },
  };
}

async function applyChange(
  options: TaskScopeOptions & { dryRun: false },
  binding: StepBinding,
  change: Change,
): Promise<boolean> {
  const { changed, keptAt } = await options.ledger.apply(options.scope, change);
  const what = options.describe(change);
  if (keptAt !== undefined) {
    binding.emit({
      type: 'note',
      level: 'warning',
      message: `${what} had been edited by someone; that version is kept in ${keptAt}`,
    });
  }
  if (changed) {
    binding.emit({ type: 'step.progress', message: what });
    binding.changed();
  }
  return changed;
}

async function planChange(
  options: TaskScopeOptions & { dryRun: true },
  binding: StepBinding,
  change: Change,
): Promise<boolean> {
  const { action, satisfied } = await options.ledger.observe(change);
  const planned = satisfied || action === 'none' ? 'keep' : action;
  binding.emit({ type: 'step.planned', action: planned, what: options.describe(change) });
  if (planned !== 'keep') binding.changed();
  return planned !== 'keep';
}
