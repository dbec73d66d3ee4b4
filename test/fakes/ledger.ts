// What tests do with a host's whole ledger.
import type { UndoOutcome } from '../../src/host/changes/change.ts';
import type { Host } from '../../src/host/host.ts';
import { openLedger } from '../../src/host/ledger/ledger.ts';

/** Undoes all that is recorded, as a reset does; the outcomes by resource key. */
export async function undoAll(host: Host): Promise<Record<string, UndoOutcome>> {
  const ledger = await openLedger(host, { operation: 'op', command: 'bke reset' });
  const outcomes: Record<string, UndoOutcome> = {};
  for (const resource of ledger.resources()) outcomes[resource.key] = await ledger.undo(resource);
  await ledger.close();
  return outcomes;
}
