// The order of a manifest's objects holds whatever the order of the file.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyStages } from '../../../src/kube/apply-order.ts';

/** One kind of each stage, in the order that is wanted. */
const kinds = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'Service',
  'Deployment',
  'Certificate',
  'ValidatingWebhookConfiguration',
];

const object = (kind: string, name = 'x') => ({ apiVersion: 'v1', kind, metadata: { name } });

describe('applyStages', () => {
  it('puts what others need first and what can refuse others last', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(kinds, { minLength: 1 }), (shuffled) => {
        const stages = applyStages(shuffled.map((kind) => object(kind)));
        const wanted = kinds.filter((kind) => shuffled.includes(kind));
        expect(stages.map((stage) => stage.map(({ kind }) => kind))).toEqual(wanted.map((kind) => [kind]));
      }),
    );
  });

  it('keeps the order of the file within a stage', () => {
    const stages = applyStages([
      object('Secret', 'b'),
      object('Namespace'),
      object('ConfigMap', 'a'),
      object('Secret', 'c'),
    ]);
    expect(stages.at(1)?.map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 'c']);
  });
});
