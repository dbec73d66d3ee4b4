// Lists as aligned columns, in the manner of kubectl.
import type { Column } from '../../lib/command.ts';
import { padEnd, textWidth, visible } from '../../lib/text.ts';

export interface TableStyle {
  readonly headers: boolean;
  readonly wide: boolean;
}

/** Lines without trailing spaces, each ended by a newline. */
export function renderTable(items: readonly object[], columns: readonly Column[], style: TableStyle): string {
  const shown = columns.filter((column) => style.wide || column.wide !== true);
  const rows = items.map((item) => shown.map((column) => columnCell(item, column)));
  if (style.headers) rows.unshift(shown.map((column) => column.title.toUpperCase()));
  const widths = shown.map((_, i) => Math.max(...rows.map((row) => textWidth(row[i] ?? ''))));
  return rows
    .map(
      (row) =>
        `${row
          .map((text, i) => padEnd(text, widths[i] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Key: value lines of one object, for people. */
export function renderObject(value: object): string {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  const width = Math.max(0, ...entries.map(([key]) => textWidth(label(key))));
  return entries
    .map(([key, field]) => `${padEnd(`${label(key)}:`, width + 1)} ${cell(field)}`.trimEnd())
    .join('\n')
    .concat('\n');
}

function columnCell(item: object, { field, text }: Column): string {
  const value = fieldOf(item, field);
  return cell(text === undefined || value === undefined ? value : text(value));
}

/** The field at a dotted path. */
export function fieldOf(item: unknown, path: string): unknown {
  let value: unknown = item;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

/** One line, whatever is in it. */
function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(',');
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return visible(text.replaceAll(/[ \t\r\n]+/g, ' '), 1000);
}

/** nodeVersion -> node version */
function label(key: string): string {
  return key.replaceAll(/([a-z0-9])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
}
