// What every way of showing an operation's events has in common.
import type { OperationEvent } from '../../api/events.ts';

export interface Renderer {
  handle(event: OperationEvent): void;
  /** Shows what is left and gives the terminal back; nothing is shown after it. */
  close(): void;
}
