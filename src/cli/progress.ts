// Where events of an operation go: the renderer --progress names, loaded with the first event.
import type { EventSink, OperationEvent } from '../api/events.ts';
import type { GlobalValues } from '../lib/global-options.ts';
import type { Io } from './io.ts';
import type { Renderer } from './render/renderer.ts';

export interface Progress {
  readonly sink: EventSink;
  /** Shows what is left and gives the terminal back. */
  close(): Promise<void>;
}

/** @param json -o json of a command that acts: events go to stdout. */
export function openProgress(io: Io, globals: GlobalValues, json: boolean): Progress {
  let renderer: Renderer | undefined;
  let loading: Promise<void> | undefined;
  let waiting: OperationEvent[] = [];
  const load = async (): Promise<void> => {
    const { createRenderer } = await import('./render/choose.ts');
    renderer = createRenderer(io, globals, json);
    for (const event of waiting) renderer.handle(event);
    waiting = [];
  };
  return {
    sink: (event) => {
      if (renderer !== undefined) return renderer.handle(event);
      waiting.push(event);
      loading ??= load();
    },
    close: async () => {
      await loading;
      renderer?.close();
    },
  };
}
