// Where an operation is that another process carries out: read from its journal, which it writes as it goes.
import type { OperationEvent } from '../api/events.ts';
import { isErrno } from '../lib/errno.ts';
import { readJournal } from './journal.ts';

export interface CurrentStep {
  /** For people, e.g. 'Local services and their content'. */
  readonly phase: string;
  /** Absent between two steps. */
  readonly step?: string;
}

/** undefined where it began no phase yet, or where its journal cannot be read. */
export async function currentStep(directory: string, id: string): Promise<CurrentStep | undefined> {
  let at: CurrentStep | undefined;
  try {
    for await (const event of readJournal(directory, id)) at = after(at, event);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT', 'EACCES')) throw thrown;
  }
  return at;
}

function after(at: CurrentStep | undefined, event: OperationEvent): CurrentStep | undefined {
  if (event.type === 'phase.started') return { phase: event.title };
  if (at === undefined) return undefined;
  if (event.type === 'step.started') return { phase: at.phase, step: event.title };
  return event.type === 'step.finished' || event.type === 'step.failed' ? { phase: at.phase } : at;
}
