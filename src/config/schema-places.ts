// Finds its way in a schema: what may hold at a path, which fields there are, and where else a field is known.
import { z } from 'zod';
import type { Path } from './yaml-source.ts';

/** The schemas that may hold at `path`: of a union, all that could be meant. */
export function schemasAt(schema: unknown, path: Path): z.ZodType[] {
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
  if (schema instanceof z.ZodLazy) return optionsOf(unwrapped(schema));
  return schema instanceof z.ZodType ? [schema] : [];
}

/** The library makes a new one each time, and one that holds itself has to be known again. */
const lazySchemas = new WeakMap<z.ZodLazy, unknown>();

function unwrapped(schema: z.ZodLazy): unknown {
  const inner = lazySchemas.get(schema) ?? schema.unwrap();
  lazySchemas.set(schema, inner);
  return inner;
}

export function keysOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodEnum ? schema.keyType.options.map(String) : [];
}

/** Of the places that are equally near. */
const mostPlaces = 3;

/** Thousands of names may be wrong. */
const allFields = new WeakMap<z.ZodType, Path[]>();

/** Where a field of this name belongs: the places nearest to `at`, where it was written. A name in other letter case counts where none has the same. */
export function placesOf(key: string, at: Path, schema: z.ZodType): Path[] {
  const all = allFields.get(schema) ?? fieldsOf(schema, [], []);
  allFields.set(schema, all);
  const same = all.filter((path) => path.at(-1) === key);
  const found = same.length > 0 ? same : all.filter((path) => String(path.at(-1)).toLowerCase() === key.toLowerCase());
  const ranked = found.map((path) => ({ path: placed(path, at), rank: [-common(path, at), path.length] as const }));
  const best = ranked.map(({ rank }) => rank).toSorted(compare)[0];
  if (best === undefined) return [];
  return ranked
    .filter(({ rank }) => compare(rank, best) === 0)
    .map(({ path }) => path)
    .slice(0, mostPlaces);
}

/** Paths of all fields, that of any item of a list as '[]'. @param inside schemas on the way: one that holds itself is gone into once. */
function fieldsOf(schema: unknown, path: Path, inside: readonly z.ZodType[]): Path[] {
  return optionsOf(schema).flatMap((option) => {
    if (inside.includes(option)) return [];
    const deeper = [...inside, option];
    if (option instanceof z.ZodArray) return fieldsOf(option.element, [...path, anyItem], deeper);
    if (!(option instanceof z.ZodObject)) return [];
    return Object.entries(option.shape).flatMap(([name, field]) => {
      const here = [...path, name];
      return [here, ...fieldsOf(field, here, deeper)];
    });
  });
}

const anyItem = '[]';

/** Steps from the top that lead to both. */
function common(path: Path, at: Path): number {
  const differs = path.findIndex((key, index) => !isStep(key, at[index]));
  return differs === -1 ? path.length : differs;
}

function isStep(key: PropertyKey, written: PropertyKey | undefined): boolean {
  return key === written || (key === anyItem && typeof written === 'number');
}

/** With the items that `at` goes through; the first of other lists. */
function placed(path: Path, at: Path): Path {
  const shared = common(path, at);
  return path.map((key, index) => (key === anyItem ? (index < shared ? (at[index] ?? 0) : 0) : key));
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
