// Informers that show a fake cluster as it is now; nobody is told of changes: tests reconcile what they mean to.
import type { Informers, ObjectView, Source } from '../../src/controllers/informers.ts';
import type { KubeObject } from '../../src/kube/client.ts';
import type { FakeCluster } from './kube-client.ts';

export function fakeInformers(cluster: FakeCluster): Informers {
  return {
    watch: (source): ObjectView => {
      const items = (): KubeObject[] => cluster.objects(source).filter((object) => isOf(object, source));
      return {
        items,
        get: (name, namespace) =>
          items().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
      };
    },
  };
}

function isOf({ metadata }: KubeObject, { namespace, labelSelector, fieldSelector }: Source): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  if (labelSelector !== undefined && metadata.labels?.[labelSelector] === undefined) return false;
  return fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`;
}
