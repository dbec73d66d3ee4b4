// What every way of showing an operation's events has in common.
import type { OperationEvent } from '../../api/events.ts';

export interface Renderer {
  handle(event: OperationEvent): void;
  /** A line for people that is no event (a hint, a signal), where it does not disturb what is drawn. */
  line(text: string): void;
  /** Shows what is left and gives the terminal back; nothing is shown after it. */
  close(): void;
}
