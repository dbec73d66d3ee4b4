import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { customResourceDefinitions } from '../../../src/api/crd/crds.ts';
import { structuralSchema } from '../../../src/api/crd/structural.ts';

const folder = join(import.meta.dirname, '../../../assets/crds');

describe('the definitions in assets/crds', () => {
  it('are made of the schemas as they are (scripts/generate-crds.ts)', async () => {
    const made = customResourceDefinitions();
    expect((await readdir(folder)).toSorted()).toEqual(made.map(({ name }) => `${name}.yaml`).toSorted());
    for (const { name, definition } of made) {
      expect(parse(await readFile(join(folder, `${name}.yaml`), 'utf8')), name).toEqual(definition);
    }
  });

  it('name the contract of Cluster API where they are part of it', () => {
    const contract = customResourceDefinitions().filter(({ name }) => name.endsWith('.cluster.x-k8s.io'));
    expect(contract).toHaveLength(4);
    for (const { definition } of contract) {
      expect(definition).toMatchObject({ metadata: { labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha1' } } });
    }
  });
});

describe('a schema for a definition', () => {
  it('says what zod says, as far as Kubernetes takes it', () => {
    const schema = z.strictObject({
      count: z.int(),
      port: z.int().min(1).max(65_535),
      labels: z.record(z.string(), z.string().max(63)),
      any: z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true }).optional(),
    });
    expect(structuralSchema(schema)).toEqual({
      type: 'object',
      required: ['count', 'port', 'labels'],
      properties: {
        count: { type: 'integer', format: 'int64' },
        port: { type: 'integer', minimum: 1, maximum: 65_535, format: 'int32' },
        labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    });
  });

  it('is refused where it has what a definition cannot have', () => {
    expect(() => structuralSchema(z.object({ a: z.union([z.string(), z.int()]) }))).toThrow('.a has anyOf');
  });
});
