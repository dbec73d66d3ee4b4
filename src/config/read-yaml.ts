// Reads a YAML file against a schema: text fields as they were written, every problem with its place, spellings suggested.
import { z } from 'zod';
import { nearest } from '../lib/suggest.ts';
import { listed, truncate } from '../lib/text.ts';
import type { Problem } from './problem.ts';
import { keysOf, placesOf, schemasAt } from './schema-places.ts';
import { type Path, type Position, readYamlSource, type YamlSource } from './yaml-source.ts';

interface ReadYaml {
  /** What is taken as it is, but hardly meant so. */
  readonly warnings: readonly Problem[];
  /** 'b.yaml:3:5' of the value at `path`, or of the nearest parent there is. */
  readonly placeOf: (path: Path) => string;
  /** Its line alone. */
  readonly lineOf: (path: Path) => number;
}
/** With problems, `raw` is what could be read all the same, unchecked; undefined where it is no YAML at all. */
export type YamlResult<Value> = ReadYaml &
  ({ readonly value: Value } | { readonly problems: readonly Problem[]; readonly raw: unknown });

/** What is wrong beyond the form of each field: with a value that was read, or how it was written. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly warning?: boolean;
}

/** @param raw the file as plain values, text fields as they were written; with mistakes in its form anything. */
export type Check = (raw: unknown, source: WrittenSource) => readonly Finding[];
export type WrittenSource = Pick<YamlSource, 'writtenAt' | 'isCutByComment' | 'positionOf'>;

interface Found extends Position {
  readonly field: string;
  readonly message: string;
}

/** Mistakes that are looked at: of a file that is something else altogether there may be a hundred thousand. */
const mostIssues = 1000;

/**
 * No error is thrown for what a person wrote: the caller decides what the problems mean.
 * @param file name of the file as the user wrote it, for the places.
 * @param check finds what the schema cannot know; its findings are told with those of the schema, in the order of the file.
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
  check: Check = () => [],
): YamlResult<z.infer<Schema>> {
  const read = readYamlSource(text);
  if ('faults' in read) {
    const found = read.faults.slice(0, mostIssues).map(({ path, ...fault }) => ({
      ...fault,
      field: path === undefined ? 'YAML' : fieldPath(path),
    }));
    return { problems: placed(file, found), warnings: [], raw: undefined, placeOf: () => file, lineOf: () => 1 };
  }
  const { source } = read;
  const { value, parsed } = parseMended(source, schema);
  const findings = check(value, source);
  const told = (warning: boolean): Found[] =>
    findings
      .filter((finding) => (finding.warning === true) === warning)
      .map(({ path, message }) => foundAt(source, path, message));
  const issues = parsed.error?.issues.slice(0, mostIssues) ?? [];
  const found = [...withoutRunTogether(issues).flatMap((issue) => problemsOf(issue, schema, source)), ...told(false)];
  const common = {
    placeOf: (path: Path) => placeText(file, source.positionOf(path)),
    lineOf: (path: Path) => source.positionOf(path).line,
    warnings: placed(file, told(true)),
  };
  if (parsed.success && found.length === 0) return { ...common, value: parsed.data };
  return { ...common, problems: placed(file, found), raw: value };
}

/** With every number and boolean that should be text put back to how it was written. */
function parseMended<Schema extends z.ZodType>(
  source: YamlSource,
  schema: Schema,
): { readonly value: unknown; readonly parsed: z.ZodSafeParseResult<z.infer<Schema>> } {
  let { value } = source;
  for (;;) {
    const parsed = schema.safeParse(value, { reportInput: true });
    const rewritten = parsed.success ? undefined : asWritten(value, parsed.error.issues, source);
    if (rewritten === undefined) return { value, parsed };
    value = rewritten;
  }
}

function placeText(file: string, { line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

function placed(file: string, found: readonly Found[]): Problem[] {
  return [...found]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .map(({ field, message, ...position }) => ({ at: placeText(file, position), field: field || 'file', message }));
}

/** Letters of a name or value that a message repeats. */
const longest = 40;

/** spec.artifacts[3]["odd key"] */
export function fieldPath(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = truncate(String(key), longest);
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
    const same = text === undefined || issue.path.length === 0 || at(value, issue.path) === text;
    return same ? [] : [{ path: issue.path, text }];
  });
  for (const { path, text } of texts) putAt(value, path, text);
  return texts.length === 0 ? undefined : value;
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

/** In place: a copy for each of thousands of values would take minutes. */
function putAt(value: unknown, path: Path, text: string): void {
  const parent = at(value, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent === 'object' && parent !== null && key !== undefined) Reflect.set(parent, key, text);
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType, source: YamlSource): Found[] {
  if (issue.code === 'unrecognized_keys') {
    const known = schemasAt(schema, issue.path).flatMap(keysOf);
    return issue.keys.slice(0, mostIssues).map((key) => {
      const field = fieldPath([...issue.path, key]);
      const place = { ...source.positionOf(issue.path, key), field };
      // Right for another kind of thing at this place: what was written is no suggestion.
      if (known.includes(key)) return { ...place, message: 'there is no such field in this kind of entry' };
      return { ...place, message: `there is no such field${meant(key, known, placesOf(key, issue.path, schema))}` };
    });
  }
  return [foundAt(source, issue.path, messageOf(issue, schema, source))];
}

function foundAt(source: YamlSource, path: Path, message: string): Found {
  return { ...source.positionOf(path), field: fieldPath(path), message };
}

/** `address:10.0.0.1` is a name without a value: that the field `address` is missing is the same mistake. */
function withoutRunTogether(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const meant = new Set(
    issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.flatMap((key) => (key.includes(':') ? [fieldPath([...issue.path, beforeColon(key)])] : []))
        : [],
    ),
  );
  return issues.filter((issue) => issue.input !== undefined || !meant.has(fieldPath(issue.path)));
}

function beforeColon(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

function suggestion(typed: string, known: readonly string[]): string {
  if (typed.includes(':') && known.includes(beforeColon(typed))) return '; put a space after the colon';
  const near = nearest(typed, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** A field that is right but for its level is told where it belongs; letters alone may mislead (hostKeys, hosts). */
function meant(key: string, known: readonly string[], elsewhere: readonly Path[]): string {
  const near = suggestion(key, known);
  const isRight = elsewhere.some((path) => path.at(-1) === key);
  if (elsewhere.length === 0 || (near !== '' && !isRight)) return near;
  return `; did you mean ${listed(elsewhere.map(fieldPath), 'or')}?`;
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

function messageOf(issue: z.core.$ZodIssue, schema: z.ZodType, source: YamlSource): string {
  const found = foundText(issue.input, issue.path, source);
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing';
  if (issue.code === 'invalid_type') {
    const expected = kinds[issue.expected] ?? issue.expected;
    const hint = expected === kinds['object'] ? colonHint(issue.input) : '';
    return `must be ${expected}, but is ${found}${hint}`;
  }
  if (issue.code === 'invalid_value') return oneOf(issue.values.map(String), issue.input, found);
  if (isEmptyIssue(issue)) return 'must not be empty';
  if (issue.code === 'invalid_union') return unionMessage(issue, schema, source);
  if (issue.code === 'invalid_key') return invalidKeyMessage(issue, schema);
  return issue.message;
}

/** Of text and lists, not of numbers. */
function isEmptyIssue(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'too_small' && issue.minimum === 1 && typeof issue.input !== 'number';
}

const emptySecret = 'empty (a text that begins with a special letter, such as &, needs quotes)';

/** The value itself only where it can hardly be a secret: never a whole file, nor what a key calls one. */
function foundText(input: unknown, path: Path, source: YamlSource): string {
  if (input === null) return path.length > 0 && isSecret(input, path) ? emptySecret : 'empty';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'object') return 'a mapping';
  const kind = typeof input;
  if (isSecret(input, path)) return kind === 'string' ? 'text' : `a ${kind}`;
  if (typeof input === 'string') return `the text ${JSON.stringify(truncate(input, longest))}`;
  return `the ${kind} ${source.writtenAt(path) ?? JSON.stringify(input)}`;
}

function isSecret(input: unknown, path: Path): boolean {
  return (
    path.length === 0 ||
    path.some((key) => /pass|secret|token|credential|key/i.test(String(key))) ||
    (typeof input === 'string' && input.includes('-----BEGIN '))
  );
}

/** `name:n1` alone is a text. An address of the web is one that was meant so. */
function colonHint(input: unknown): string {
  return typeof input === 'string' && /^[A-Za-z][\w-]*:(?!\/\/)\S/.test(input) ? '; put a space after the colon' : '';
}

function oneOf(values: readonly string[], input: unknown, found: string): string {
  const allowed = values.length === 1 ? `must be ${values.join('')}` : `must be one of ${listed(values, 'or')}`;
  return `${allowed}, but is ${found}${typeof input === 'string' ? suggestion(input, values) : ''}`;
}

/** Where `kind:` or the like decides which fields belong here. */
function unionMessage(issue: z.core.$ZodIssueInvalidUnion, schema: z.ZodType, source: YamlSource): string {
  const { discriminator } = issue;
  if (discriminator === undefined) return issue.message;
  const parent = issue.path.slice(0, -1);
  const values = schemasAt(schema, parent).flatMap((option) =>
    option instanceof z.ZodObject && option.shape[discriminator] instanceof z.ZodLiteral
      ? [...option.shape[discriminator].values].map(String)
      : [],
  );
  const { input } = issue;
  const chosen: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, discriminator) : input;
  return oneOf(values, chosen, foundText(chosen, [...parent, discriminator], source));
}

function invalidKeyMessage(issue: z.core.$ZodIssueInvalidKey, schema: z.ZodType): string {
  const record = schemasAt(schema, issue.path.slice(0, -1)).find((found) => found instanceof z.ZodRecord);
  const wanted =
    record instanceof z.ZodRecord ? z.toJSONSchema(z.object({ key: record.keyType })).properties?.['key'] : true;
  const pattern = typeof wanted === 'object' && wanted.pattern !== undefined ? `; it must match ${wanted.pattern}` : '';
  return `${JSON.stringify(issue.input)} cannot stand here${pattern}`;
}
