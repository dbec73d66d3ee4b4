// What clusterctl knows of installed providers: its inventory, one Provider object each, as clusterctl itself would write them.
import type { KubeObject, ObjectKey } from '../../kube/client.ts';
import type { Provider } from './providers.ts';
import { providerLabels, withLabels } from './render.ts';

const inventoryKind = { apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3', kind: 'Provider' };
const inventoryLabel = { 'clusterctl.cluster.x-k8s.io/core': 'inventory' };

/** @param version of the provider's components, with a leading v */
export function inventoryObject(provider: Provider, version: string): KubeObject {
  const { name, namespace, providerName, type } = provider;
  return {
    ...inventoryKind,
    metadata: { name, namespace, labels: { ...providerLabels(provider), ...inventoryLabel } },
    providerName,
    type,
    version,
  };
}

/** The definition of the inventory's kind. */
export function inventoryDefinition(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.map((object) => withLabels(object, inventoryLabel));
}

export function inventoryKey({ name, namespace }: Pick<Provider, 'name' | 'namespace'>): ObjectKey {
  return { ...inventoryKind, namespace, name };
}
