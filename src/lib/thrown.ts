// What was caught, as something with a type.

/** The error itself, or one that says what was thrown instead. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** A field that some errors carry, e.g. `code` or `reason`; undefined where there is none. */
export function errorField(thrown: unknown, field: string): unknown {
  return thrown instanceof Error ? Reflect.get(thrown, field) : undefined;
}
