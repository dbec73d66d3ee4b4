// A pause of a loop that ends by itself where its signal is aborted: the pause ends early, and the loop looks.

/** Never throws. By the plain timer, so that tests can let an hour pass. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const wake = (): void => resolve();
  signal.addEventListener('abort', wake, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', wake);
}
