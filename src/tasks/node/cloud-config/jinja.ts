// The part of jinja that Cluster API's bootstrap data uses: values of the instance, and raw blocks. Everything else is refused, never guessed.

/** What a template may name, e.g. {ds: {meta_data: {local_hostname: 'cp1'}}, v1: {…}}. */
export interface TemplateValues {
  readonly [name: string]: string | TemplateValues;
}

export interface TemplateProblem {
  /** Counted from 1, in the template. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type Rendered = { readonly text: string } | { readonly problems: readonly TemplateProblem[] };

const opening = /\{[{%#]/g;
const variable = /\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}/y;
/** As cloud-init sets jinja up (trim_blocks), the end of a block takes one line end along; the beginning of a raw block does not. */
const rawBlock = /\{%\s*raw\s*%\}([\s\S]*?)\{%\s*endraw\s*%\}\n?/y;
/** The names that a template may begin with. */
const roots = /^(ds\.meta_data|v1)\./;

/** @returns the text, or every place that is refused: of what stands there only the name of a value is told. */
export function renderTemplate(template: string, values: TemplateValues): Rendered {
  // jinja drops the last line end, and cloud-init puts it back, even where a raw block has taken it along.
  const closed = template.endsWith('\n');
  const result = renderParts(closed ? template.slice(0, -1) : template, values);
  return 'text' in result && closed ? { text: `${result.text}\n` } : result;
}

function renderParts(template: string, values: TemplateValues): Rendered {
  const problems: TemplateProblem[] = [];
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    opening.lastIndex = at;
    const found = opening.exec(template);
    if (found === null) break;
    parts.push(template.slice(at, found.index));
    const piece = pieceAt(template, found.index, values);
    if ('message' in piece) problems.push({ ...placeOf(template, found.index), message: piece.message });
    else parts.push(piece.text);
    at = piece.end;
  }
  if (problems.length > 0) return { problems };
  return { text: parts.join('') + template.slice(at) };
}

type Piece = { readonly end: number } & ({ readonly text: string } | { readonly message: string });

function pieceAt(template: string, start: number, values: TemplateValues): Piece {
  const end = start + 2;
  const kind = template.slice(start, end);
  if (kind === '{#') {
    return { end, message: 'a comment of the template begins here ({#); bke takes values and raw blocks only' };
  }
  if (kind === '{%') {
    const raw = matchAt(rawBlock, template, start);
    if (raw !== undefined) return { end: rawBlock.lastIndex, text: raw };
    return { end, message: 'a statement of the template; bke takes {% raw %} … {% endraw %} only' };
  }
  const name = matchAt(variable, template, start);
  if (name === undefined) {
    return { end, message: 'an expression of the template; bke takes {{ ds.meta_data.NAME }} and {{ v1.NAME }} only' };
  }
  return { end: variable.lastIndex, ...valueOf(name, values) };
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[1];
}

function valueOf(name: string, values: TemplateValues): { readonly text: string } | { readonly message: string } {
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  if (!roots.test(name)) return { message: `{{ ${shown} }}: bke has values below ds.meta_data and v1 only` };
  let value: string | TemplateValues | undefined = values;
  for (const part of name.split('.')) {
    value = typeof value === 'object' && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return typeof value === 'string' ? { text: value } : { message: `{{ ${shown} }}: bke has no value of this name` };
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
