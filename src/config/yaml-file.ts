// Reads a YAML configuration file against its schema; every problem comes with the file's line and column.
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import type { ZodType, z } from 'zod';
import type { Problem } from './problem.ts';

export type LoadedYaml<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly Problem[] };

interface Source {
  readonly file: string;
  readonly lines: LineCounter;
  readonly document: Document;
}

/** @param file name of the file as the user wrote it, for messages. */
export function loadYaml<S extends ZodType>(text: string, file: string, schema: S): LoadedYaml<z.infer<S>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const source = { file, lines, document };
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      at: place(source, error.pos[0]),
      field: 'YAML',
      message: (error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, ''),
    }));
    return { value: undefined, problems };
  }
  const result = schema.safeParse(document.toJS({ maxAliasCount: 100 }) ?? {});
  if (result.success) return { value: result.data, problems: [] };
  return { value: undefined, problems: result.error.issues.flatMap((issue) => issueProblems(source, issue)) };
}

function issueProblems(source: Source, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      at: place(source, keyOffset(source.document, [...path, key])),
      field: [...path, key].join('.'),
      message: 'there is no such field',
    }));
  }
  return [
    { at: place(source, valueOffset(source.document, path)), field: path.join('.') || 'file', message: issue.message },
  ];
}

/** Where the value at a path begins, or the nearest thing around it that exists. */
function valueOffset(document: Document, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function keyOffset(document: Document, path: readonly (string | number)[]): number {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return valueOffset(document, path);
  const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === path.at(-1));
  return pair !== undefined && isScalar(pair.key) && pair.key.range ? pair.key.range[0] : valueOffset(document, path);
}

function place(source: Source, offset: number): string {
  const { line, col } = source.lines.linePos(offset);
  return `${source.file}:${line}:${col}`;
}
