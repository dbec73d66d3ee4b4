// Numbers and times events, writes them to the journal, then hands them to whoever watches.
import type { EventBody, EventSink, OperationEvent } from '../api/events.ts';
import { explainSystemError } from '../lib/system-error.ts';
import { toError } from '../lib/thrown.ts';
import type { Journal } from './journal.ts';

export type Emit = (body: EventBody) => void;

export interface EmitterOptions {
  readonly operation: string;
  readonly now: () => Date;
  readonly sink: EventSink;
  readonly journal?: Journal | undefined;
}

export function createEmitter(options: EmitterOptions): Emit {
  let seq = 0;
  let journal = options.journal;
  const emit: Emit = (body) => {
    seq += 1;
    const event: OperationEvent = { seq, time: options.now().toISOString(), operation: options.operation, ...body };
    const problem = journal === undefined ? undefined : append(journal, event);
    options.sink(event);
    if (problem === undefined) return;
    // A full disk must not stop a reset that is about to empty it: go on without the journal, and say so.
    journal = undefined;
    emit({ type: 'note', level: 'warning', message: `the journal cannot be written any more: ${problem}` });
  };
  return emit;
}

/** What went wrong, or undefined. */
function append(journal: Journal, event: OperationEvent): string | undefined {
  try {
    journal.append(event);
    return undefined;
  } catch (error) {
    return toError(explainSystemError(error)).message;
  }
}
