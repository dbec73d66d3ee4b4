// Whether a value is a mapping of YAML or JSON: neither a list nor nothing.

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
