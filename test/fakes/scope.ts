// What a reconcile is given, outside of any queue.
import type { ReconcileScope } from '../../src/controllers/controller.ts';
import { silentLog } from './log.ts';

/** Nobody aborts it; what waits aside just waits. */
export function reconcileScope(leaseGeneration = 1): ReconcileScope {
  return { log: silentLog, signal: new AbortController().signal, leaseGeneration, aside: (work) => work() };
}
