// Reads a YAML file against a schema: text fields as they were written, every problem with its place, spellings suggested.
import { z } from 'zod';
import { nearest } from '../lib/suggest.ts';
import { listed } from '../lib/text.ts';
import type { Problem } from './problem.ts';
import { type Path, type Position, readYamlSource, type YamlSource } from './yaml-source.ts';

export type YamlResult<Value> = { readonly value: Value } | { readonly problems: readonly Problem[] };

interface Found extends Position {
  readonly field: string;
  readonly message: string;
}

/**
 * No error is thrown for what a person wrote: the caller decides what the problems mean.
 * @param file name of the file as the user wrote it, for the places.
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
): YamlResult<z.infer<Schema>> {
  const read = readYamlSource(text);
  if ('faults' in read)
    return {
      problems: placed(
        file,
        read.faults.map((fault) => ({ ...fault, field: 'YAML' })),
      ),
    };
  const { source } = read;
  let value = source.value;
  for (;;) {
    const parsed = schema.safeParse(value, { reportInput: true });
    if (parsed.success) return { value: parsed.data };
    const rewritten = asWritten(value, parsed.error.issues, source);
    if (rewritten === undefined) {
      return {
        problems: placed(
          file,
          parsed.error.issues.flatMap((issue) => problemsOf(issue, schema, source)),
        ),
      };
    }
    value = rewritten;
  }
}

function placed(file: string, found: readonly Found[]): Problem[] {
  return [...found]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, field, message }) => ({ at: `${file}:${line}:${column}`, field: field || 'file', message }));
}

/** spec.artifacts[3]["odd key"] */
function fieldPath(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = String(key);
      if (!/^[\w-]+$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}

/** `version: 1.30` is a number to YAML and text to us: where the schema wants text, what was written counts. undefined: nothing to mend so. */
function asWritten(value: unknown, issues: readonly z.core.$ZodIssue[], source: YamlSource): unknown {
  const texts = issues.flatMap((issue) => {
    const text =
      issue.code === 'invalid_type' && issue.expected === 'string' ? source.writtenAt(issue.path) : undefined;
    return text === undefined || at(value, issue.path) === text ? [] : [{ path: issue.path, text }];
  });
  if (texts.length === 0) return undefined;
  return texts.reduce((changed, { path, text }) => withValue(changed, path, text), value);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

function withValue(value: unknown, [key, ...rest]: Path, text: string): unknown {
  if (key === undefined) return text;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? withValue(item, rest, text) : item));
  if (typeof value !== 'object' || value === null) return value;
  return { ...value, [key]: withValue(Reflect.get(value, key), rest, text) };
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType, source: YamlSource): Found[] {
  if (issue.code === 'unrecognized_keys') {
    const known = schemasAt(schema, issue.path).flatMap(keysOf);
    return issue.keys.map((key) => ({
      ...source.positionOf(issue.path, key),
      field: fieldPath([...issue.path, key]),
      message: `there is no such field${suggestion(key, known)}`,
    }));
  }
  return [{ ...source.positionOf(issue.path), field: fieldPath(issue.path), message: messageOf(issue, schema) }];
}

function suggestion(typed: string, known: readonly string[]): string {
  const near = nearest(typed, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function messageOf(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing';
  if (issue.code === 'invalid_type')
    return `must be ${kinds[issue.expected] ?? issue.expected}, but is ${kindOf(issue.input)}`;
  if (issue.code === 'invalid_value') return oneOf(issue.values.map(String), issue.input);
  if (issue.code === 'too_small' && issue.minimum === 1) return 'must not be empty';
  if (issue.code === 'invalid_union') return unionMessage(issue, schema);
  if (issue.code === 'invalid_key') return invalidKeyMessage(issue, schema);
  return issue.message;
}

function kindOf(input: unknown): string {
  if (input === null) return 'empty';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'object') return 'a mapping';
  return typeof input === 'string' ? `the text ${JSON.stringify(input)}` : `${typeof input} ${JSON.stringify(input)}`;
}

function oneOf(values: readonly string[], input: unknown): string {
  const allowed = values.length === 1 ? `must be ${values.join('')}` : `must be one of ${listed(values, 'or')}`;
  return `${allowed}, but is ${kindOf(input)}${typeof input === 'string' ? suggestion(input, values) : ''}`;
}

/** Where `kind:` or the like decides which fields belong here. */
function unionMessage(issue: z.core.$ZodIssueInvalidUnion, schema: z.ZodType): string {
  const { discriminator } = issue;
  if (discriminator === undefined) return issue.message;
  const parent = issue.path.slice(0, -1);
  const values = schemasAt(schema, parent).flatMap((option) =>
    option instanceof z.ZodObject && option.shape[discriminator] instanceof z.ZodLiteral
      ? [...option.shape[discriminator].values].map(String)
      : [],
  );
  const { input } = issue;
  return oneOf(values, typeof input === 'object' && input !== null ? Reflect.get(input, discriminator) : input);
}

function invalidKeyMessage(issue: z.core.$ZodIssueInvalidKey, schema: z.ZodType): string {
  const record = schemasAt(schema, issue.path.slice(0, -1)).find((found) => found instanceof z.ZodRecord);
  const wanted =
    record instanceof z.ZodRecord ? z.toJSONSchema(z.object({ key: record.keyType })).properties?.['key'] : true;
  const pattern = typeof wanted === 'object' && wanted.pattern !== undefined ? `; it must match ${wanted.pattern}` : '';
  return `${JSON.stringify(issue.input)} cannot stand here${pattern}`;
}

/** The schemas that may hold at `path`: of a union, all that could be meant. */
function schemasAt(schema: unknown, path: Path): z.ZodType[] {
  const open = optionsOf(schema);
  const [key, ...rest] = path;
  if (key === undefined) return open;
  return open.flatMap((option) => {
    if (option instanceof z.ZodObject) return schemasAt(option.shape[String(key)], rest);
    if (option instanceof z.ZodArray) return schemasAt(option.element, rest);
    return option instanceof z.ZodRecord ? schemasAt(option.valueType, rest) : [];
  });
}

/** Without the wrappers that say optional, default and the like. */
function optionsOf(schema: unknown): z.ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return optionsOf(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return optionsOf(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(optionsOf);
  return schema instanceof z.ZodType ? [schema] : [];
}

function keysOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodEnum ? schema.keyType.options.map(String) : [];
}
