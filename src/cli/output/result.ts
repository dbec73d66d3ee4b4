// What a handler gave back, as text for stdout in the wanted format.
import type { CommandResult, OutputFormat } from '../../lib/command.ts';
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

export async function renderResult(result: CommandResult, style: ResultStyle): Promise<RenderedResult> {
  switch (result.kind) {
    case 'none':
      return { stdout: '' };
    case 'text':
      return { stdout: result.text };
    case 'object':
      return { stdout: await renderValue(result, style.format) };
    case 'list':
      return renderList(result, style);
  }
}

async function renderValue(result: CommandResult & { kind: 'object' }, format: OutputFormat): Promise<string> {
  switch (format) {
    case 'json':
      return toJson(result.value);
    case 'yaml':
      return toYaml(result.value);
    case 'name':
      return nameLine(result.value);
    case 'table':
    case 'wide':
      return result.text ?? renderObject(result.value);
  }
}

async function renderList(result: CommandResult & { kind: 'list' }, style: ResultStyle): Promise<RenderedResult> {
  switch (style.format) {
    case 'json':
      return { stdout: toJson({ kind: 'List', items: result.items }) };
    case 'yaml':
      return { stdout: await toYaml({ kind: 'List', items: result.items }) };
    case 'name':
      return { stdout: result.items.map(nameLine).join('') };
    case 'table':
    case 'wide':
      if (result.items.length === 0) return { stdout: '', note: result.empty };
      return {
        stdout: renderTable(result.items, result.columns, { headers: style.headers, wide: style.format === 'wide' }),
      };
  }
}

function nameLine(item: object): string {
  return `${String(fieldOf(item, 'name') ?? fieldOf(item, 'metadata.name') ?? fieldOf(item, 'id') ?? '')}\n`;
}

function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

async function toYaml(value: object): Promise<string> {
  const { stringify } = await import('yaml');
  // Through JSON first: both formats then hold the same, e.g. of dates and undefined fields.
  return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0, aliasDuplicateObjects: false });
}
