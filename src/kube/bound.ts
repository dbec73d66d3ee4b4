// A time limit and a caller's signal as one signal, which lets go of both when the work is done.

export interface Bound {
  readonly signal: AbortSignal;
  /** Starts the time anew. */
  renew(): void;
  expired(): boolean;
  release(): void;
}

/** @param outer its reason becomes the signal's own */
export function createBound(timeoutMs: number, outer?: AbortSignal): Bound {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`no answer within ${timeoutMs / 1000} s`));
  }, timeoutMs);
  const follow = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) follow();
  else outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    renew: () => void timer.refresh(),
    expired: () => expired,
    release: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
