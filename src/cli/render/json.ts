// Events as NDJSON, for programs.
import type { OutputStream } from '../io.ts';
import type { Renderer } from './renderer.ts';

export function jsonRenderer(stream: OutputStream): Renderer {
  return {
    handle: (event) => void stream.write(`${JSON.stringify(event)}\n`),
    line: () => {},
    close: () => {},
  };
}
