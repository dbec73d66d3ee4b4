// What a handler gave back, as text for stdout in the wanted format.
import type { CommandResult, OutputFormat } from '../../lib/command.ts';
import { visible } from '../../lib/text.ts';
import { fieldOf, renderObject, renderTable } from './table.ts';

export interface ResultStyle {
  readonly format: OutputFormat;
  readonly headers: boolean;
}

export interface RenderedResult {
  readonly stdout: string;
  /** Told to a person on stderr, e.g. that a list is empty. */
  readonly note?: string;
}

type ObjectResult = Extract<CommandResult, { kind: 'object' }>;
type ListResult = Extract<CommandResult, { kind: 'list' }>;

/** Of a stream nothing: it is written as it comes. */
export async function renderResult(result: CommandResult, style: ResultStyle): Promise<RenderedResult> {
  if (result.kind === 'none' || result.kind === 'stream') return { stdout: '' };
  if (result.kind === 'text') return { stdout: result.text };
  if (result.kind === 'object') return { stdout: await objectFormats[style.format](result, style) };
  const empty = result.items.length === 0 && (style.format === 'table' || style.format === 'wide');
  return empty ? { stdout: '', note: result.empty } : { stdout: await listFormats[style.format](result, style) };
}

const objectFormats: Readonly<
  Record<OutputFormat, (result: ObjectResult, style: ResultStyle) => string | Promise<string>>
> = {
  table: objectText,
  wide: objectText,
  json: (result) => toJson(result.value),
  yaml: async (result) => toYaml(result.value),
  name: (result) => nameLine(result.value),
};

const listFormats: Readonly<
  Record<OutputFormat, (result: ListResult, style: ResultStyle) => string | Promise<string>>
> = {
  table: ({ items, columns }, { headers }) => renderTable(items, columns, { headers, wide: false }),
  wide: ({ items, columns }, { headers }) => renderTable(items, columns, { headers, wide: true }),
  json: ({ items, about }) => toJson({ kind: 'List', ...about, items }),
  yaml: async ({ items, about }) => toYaml({ kind: 'List', ...about, items }),
  name: ({ items }) => items.map(nameLine).join(''),
};

function objectText({ value, text, headers = '' }: ObjectResult, style: ResultStyle): string {
  return text === undefined ? renderObject(value) : `${style.headers ? headers : ''}${text}`;
}

function nameLine(item: object): string {
  const names = ['name', 'metadata.name', 'id'].map((path) => fieldOf(item, path));
  return `${visible(names.find((name) => typeof name === 'string') ?? '-', 1000)}\n`;
}

function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

async function toYaml(value: object): Promise<string> {
  const { stringify } = await import('yaml');
  // Through JSON first: both formats then hold the same, e.g. of dates and undefined fields.
  // Text that YAML 1.1 would take for something else (no, on, 0644) is in quotes: many programs still read that.
  return stringify(JSON.parse(JSON.stringify(value)), {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
  });
}
