// Which renderer an operation is shown by.
import type { GlobalValues } from '../../lib/global-options.ts';
import type { Io } from '../io.ts';
import { jsonRenderer } from './json.ts';
import type { Renderer } from './renderer.ts';

export function createRenderer(io: Io, _globals: GlobalValues, json: boolean): Renderer {
  return jsonRenderer(json ? io.stdout : io.stderr);
}
