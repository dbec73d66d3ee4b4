// Numbers and times events, writes them to the journal, then hands them to whoever watches.
import type { EventBody, EventSink, OperationEvent } from '../api/events.ts';
import { explainSystemError } from '../lib/system-error.ts';
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
    try {
      journal?.append(event);
      options.sink(event);
    } catch (error) {
      // A full disk must not stop a reset that is about to empty it: go on without the journal, and say so.
      journal = undefined;
      options.sink(event);
      const reason = explainSystemError(error);
      const message = `the journal can't be written any more: ${reason instanceof Error ? reason.message : String(reason)}`;
      emit({ type: 'note', level: 'warning', message });
    }
  };
  return emit;
}
