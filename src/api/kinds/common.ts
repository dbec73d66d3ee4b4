// What several resource types have in common. Bounds of lengths are there because the API server bounds the cost of CEL rules by them.
import { z } from 'zod';

export const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';
export const bkeGroup = 'bke.io';
export const apiVersionName = 'v1alpha1';

/** RFC 3339 */
export const time = z.string().max(64).meta({ format: 'date-time' });

export const objectName = z.string().min(1).max(253);

/** To an object of the same namespace. */
export const nameRef = z.object({ name: objectName });

/** Anything: the API server keeps it as it is. */
export const anyMapping = z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true });

export const int32 = z.int().min(0).max(2_147_483_647);
export const port = z.int().min(1).max(65_535);
export const labels = z.record(z.string(), z.string().max(63));

/** Given to what is made of a template. */
export const templateMetadata = z.object({
  labels: labels.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

export const endpoint = z.object({ host: z.string().max(512), port: z.int().min(0).max(65_535) });

/** As metav1.Condition. */
const condition = z.object({
  type: z.string().min(1).max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().max(256),
  message: z.string().max(10_240),
  lastTransitionTime: time,
  observedGeneration: z.int().min(0).optional(),
});
export const conditions = listBy('type', z.array(condition).max(32)).optional();

/** A list whose items the API server tells apart by a field: server-side apply merges it, and no value is there twice. */
export function listBy<List extends z.ZodType>(key: string, list: List): List {
  return list.meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
}

/** An object that must satisfy CEL rules. */
export function withRules<Schema extends z.ZodType>(schema: Schema, rules: readonly Rule[]): Schema {
  return schema.meta({ 'x-kubernetes-validations': rules });
}

interface Rule {
  /** CEL; `self` is the object, `oldSelf` what it was before. */
  readonly rule: string;
  readonly message: string;
  /** Field of the object that the message is about, e.g. .claimID */
  readonly fieldPath?: string;
}

/** How an error travels in a status (src/lib/errors.ts). */
export const errorReport = z.object({
  code: z.string().max(64),
  message: z.string().max(4096),
  hint: z.string().max(4096).optional(),
  host: z.string().max(253).optional(),
});
