// The ledger of a host: every change is written down before it is made, so that it can be unmade exactly (ARCHITECTURE.md, "A change").
import type { Host } from '../host.ts';
import type { Ledger, LedgerOptions, LedgerView } from './contract.ts';
import { ViewOfLedger } from './ledger-view.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { lockDirectory, lockOwner, type LockOwner, refuseLocked } from './lock.ts';

export type { Ledger, LedgerResource, LedgerView } from './contract.ts';

export const defaultStateDir = '/var/lib/bke';

/** @throws BkeError BKE_LOCKED where another bke works on this host, BKE_LEDGER_NEWER where a newer bke wrote the ledger. */
export function openLedger(host: Host, options: LedgerOptions): Promise<Ledger> {
  return LedgerWriter.open(host, { ...options, stateDir: options.stateDir ?? defaultStateDir });
}

/** Without the lock: for status, plans and drift. */
export async function readLedger(host: Host, stateDir: string = defaultStateDir): Promise<LedgerView> {
  return ViewOfLedger.read(host, stateDir);
}

/** Who changes this host now. @throws BkeError BKE_SYSTEM where this account may not know */
export async function ownerOfHost(host: Host, stateDir: string = defaultStateDir): Promise<LockOwner | undefined> {
  return lockOwner(host, lockDirectory(stateDir));
}

/** Before a person is asked: what would meet the lock afterwards is told at once. @throws BkeError BKE_LOCKED */
export async function refuseBusyHost(host: Host, stateDir: string = defaultStateDir): Promise<void> {
  await refuseLocked(host, lockDirectory(stateDir));
}
