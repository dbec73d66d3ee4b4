// Progress of the test bed for people: one line per event on stderr, stdout stays data.

/** Writes one progress line to stderr. */
export function say(message: string): void {
  process.stderr.write(`testbed: ${message}\n`);
}

/** Seconds since `start` (a `performance.now()` value) with one decimal, for progress lines. */
export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
