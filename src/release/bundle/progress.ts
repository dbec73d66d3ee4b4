// How far building, verifying or loading a bundle is.
import { throttled } from '../../lib/throttle.ts';

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** What is being handled: an artifact, a file or a blob. */
  readonly item: string;
}

/** Often enough to be lively, seldom enough for a journal. */
const intervalMs = 200;

export function reporter<Each extends Progress>(
  onProgress: ((progress: Each) => void) | undefined,
): (progress: Each) => void {
  if (onProgress === undefined) return () => undefined;
  return throttled(intervalMs, onProgress, ({ done, total }) => done === total);
}
