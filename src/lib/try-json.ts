// JSON from elsewhere, read without an error: those of the parser repeat a piece of what they read.

/** undefined where it is no JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
