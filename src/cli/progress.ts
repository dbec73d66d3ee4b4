// Where events of an operation go: the renderer --progress names, loaded with the first event. Keeps the order of all that people are told.
import type { EventSink } from '../api/events.ts';
import type { GlobalValues } from '../lib/global-options.ts';
import { fitRow } from './fit-row.ts';
import { type Io, terminalSize } from './io.ts';
import type { Renderer } from './render/renderer.ts';

export interface Progress {
  readonly sink: EventSink;
  /** A line for people that is no event. */
  line(text: string): void;
  /** Resolves when everything so far is shown: before a question. */
  shown(): Promise<void>;
  /** Shows what is left and gives the terminal back. */
  close(): Promise<void>;
}

/** @param json -o json of a command that acts: events go to stdout. */
export function openProgress(io: Io, globals: GlobalValues, json: boolean): Progress {
  let renderer: Renderer | undefined;
  let loading: Promise<void> | undefined;
  let waiting: ((renderer: Renderer) => void)[] = [];
  const load = async (): Promise<void> => {
    const { createRenderer } = await import('./render/choose.ts');
    const loaded = createRenderer(io, globals, json);
    for (const show of waiting) show(loaded);
    waiting = [];
    renderer = loaded;
  };
  return {
    sink: (event) => {
      if (renderer !== undefined) return renderer.handle(event);
      waiting.push((loaded) => loaded.handle(event));
      loading ??= load();
    },
    line: (whole) => {
      const text = fitted(io, whole);
      if (renderer !== undefined) renderer.line(text);
      else if (loading !== undefined) waiting.push((loaded) => loaded.line(text));
      else io.stderr.write(`${text}\n`);
    },
    shown: async () => loading,
    close: async () => {
      await loading;
      renderer?.close();
    },
  };
}

/** A log has lines of any length. */
function fitted({ stderr }: Io, line: string): string {
  return stderr.isTTY === true ? fitRow(line, terminalSize(stderr).columns) : line;
}
