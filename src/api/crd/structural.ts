// A zod schema as the structural OpenAPI schema that a CustomResourceDefinition takes (KEP-1979 of apiextensions: no references, no unions).
import { z } from 'zod';
import { isMapping } from '../../lib/is-mapping.ts';

type Json = { readonly [field: string]: unknown };

/** @throws Error where the schema has something that a CRD cannot say: a bug. */
export function structuralSchema(schema: z.ZodType): Json {
  return structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }), '');
}

/** What stands in zod's schema and is said elsewhere, or not at all, in a CRD. */
const dropped = new Set([
  '$schema',
  'additionalProperties',
  'propertyNames',
  'minimum',
  'maximum',
  'properties',
  'items',
]);
const unknown = ['anyOf', 'oneOf', 'allOf', '$ref', 'not', 'const', 'exclusiveMinimum', 'exclusiveMaximum'];

function structural(schema: unknown, path: string): Json {
  if (!isMapping(schema)) throw new Error(`${path} is no schema`);
  const bad = unknown.find((key) => key in schema);
  if (bad !== undefined) throw new Error(`${path} has ${bad}, which a CRD cannot have`);
  const { properties, items, additionalProperties } = schema;
  const kept = Object.entries(schema).filter(([key]) => !dropped.has(key));
  return {
    ...Object.fromEntries(kept),
    ...bounds(schema),
    ...(isMapping(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, inner]) => [key, structural(inner, `${path}.${key}`)]),
          ),
        }
      : {}),
    ...(items === undefined ? {} : { items: structural(items, `${path}[]`) }),
    // An object's other fields are pruned anyway; of a mapping the values have a schema.
    ...(isMapping(additionalProperties) && !('x-kubernetes-preserve-unknown-fields' in schema)
      ? { additionalProperties: structural(additionalProperties, `${path}{}`) }
      : {}),
  };
}

/** Without those that only say that JavaScript cannot count further. */
function bounds({ type, minimum, maximum }: Json): Json {
  const safe = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return {
    ...(safe(minimum) ? { minimum } : {}),
    ...(safe(maximum) ? { maximum } : {}),
    ...(type === 'integer' ? { format: safe(maximum) ? 'int32' : 'int64' } : {}),
  };
}
