// Ctrl-C, TERM and HUP: the first asks to stop at the next safe point, the second ends the process now.
import { ExitCode } from '../lib/error-table.ts';
import type { OutputStream } from './io.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const exitCodes: Readonly<Record<StopSignal, number>> = {
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
  SIGHUP: ExitCode.hangup,
};
const names: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const showCursor = '\u001B[?25h';

/** The part of `process` that is needed here. */
export interface SignalSource {
  on(name: StopSignal, listener: () => void): unknown;
  off(name: StopSignal, listener: () => void): unknown;
  exit(code: number): void;
}

export interface Signals {
  readonly signal: AbortSignal;
  /** The first signal that came. */
  received(): StopSignal | undefined;
  /** The line that the first one is met with; '' for none. Default: that what is done stops at the next safe point. */
  does(words: string): void;
  stopListening(): void;
}

/** @param tell shows a line to a person, now. */
export function listenForSignals(source: SignalSource, stderr: OutputStream, tell: (line: string) => void): Signals {
  const controller = new AbortController();
  let first: StopSignal | undefined;
  let words: string | undefined;
  const listeners = names.map((name) => {
    const listener = (): void => {
      if (first === undefined) {
        first = name;
        const line = words ?? stopping(name);
        if (line !== '') tell(line);
        controller.abort(name);
        return;
      }
      if (stderr.isTTY === true) stderr.write(showCursor);
      source.exit(exitCodes[name]);
    };
    source.on(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    received: () => first,
    does: (told) => {
      words = told;
    },
    stopListening: () => {
      for (const { name, listener } of listeners) source.off(name, listener);
    },
  };
}

function stopping(name: StopSignal): string {
  return `${name === 'SIGINT' ? 'Ctrl-C' : name}: stopping at the next safe point. A second one ends bke at once, in the middle of a step.`;
}

export function exitCodeOfSignal(name: StopSignal): number {
  return exitCodes[name];
}
