// Writes TOML for the configuration files bke owns (containerd, hosts.toml). Only what they need: tables, strings, numbers, booleans, arrays.

export type TomlValue = string | number | boolean | readonly TomlValue[] | TomlTable;
export interface TomlTable {
  readonly [key: string]: TomlValue;
}

/** Scalars of a table come before its sub-tables, each in the order of the object; ends with a line feed. */
export function toToml(table: TomlTable): string {
  const lines = tableLines(table, []);
  return `${lines.join('\n').trim()}\n`;
}

/** Deep merge: tables merge key by key, everything else is replaced. */
export function mergeToml(base: TomlTable, over: TomlTable): TomlTable {
  const merged: Record<string, TomlValue> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isTable(before) && isTable(value) ? mergeToml(before, value) : value;
  }
  return merged;
}

function tableLines(table: TomlTable, path: readonly string[]): string[] {
  const entries = Object.entries(table);
  const own = entries.flatMap(([key, value]) => (isTable(value) ? [] : [`${keyText(key)} = ${valueText(value)}`]));
  const header =
    path.length > 0 && (own.length > 0 || entries.length === 0) ? ['', `[${path.map(keyText).join('.')}]`] : [];
  const nested = entries.flatMap(([key, value]) => (isTable(value) ? tableLines(value, [...path, key]) : []));
  return [...header, ...own, ...nested];
}

function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : stringText(key);
}

function valueText(value: TomlValue): string {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${keyText(key)} = ${valueText(inner)}`)
      .join(', ')} }`;
  return `[${value.map(valueText).join(', ')}]`;
}

/** A literal string where that is possible, else a basic string, whose escapes are those of JSON. */
function stringText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- TOML literal strings allow no control characters
  return /^[^'\u0000-\u001f\u007f]*$/.test(text) ? `'${text}'` : JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
