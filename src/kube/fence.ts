// Keeps a process from writing that must not any more: asked in the moment a request goes out, so that no timer has to come in time.

export interface Fence {
  /** @throws BkeError BKE_KUBE_CONFLICT where nothing may be written (any more) */
  check(): void;
  /** Aborted where `check` throws, at the latest when the process comes to it: what is under way ends. */
  readonly signal: AbortSignal;
}
