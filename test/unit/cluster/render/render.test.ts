import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { goldenFolder, rendered, renderedClusters } from '../../../fakes/rendered.ts';

const yamlOf = (objects: readonly KubeObject[]): string =>
  objects
    .map((object) => stringify(readable(object), { lineWidth: 0, compat: 'yaml-1.1', aliasDuplicateObjects: false }))
    .join('---\n');

/** Secrets with what their base64 says. */
function readable(object: KubeObject): object {
  const { data, ...rest } = object;
  if (object.kind !== 'Secret' || typeof data !== 'object' || data === null) return object;
  const texts = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'base64').toString('utf8'),
  ]);
  return { ...rest, decoded: Object.fromEntries(texts) };
}

async function find(cluster: (typeof renderedClusters)[number], kind: string): Promise<KubeObject> {
  const found = (await rendered(cluster)).find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

describe('a cluster as resources', () => {
  it.each(renderedClusters)('is as in the golden file: %s', async (name) => {
    await expect(yamlOf(await rendered(name))).toMatchFileSnapshot(join(goldenFolder, `${name}.golden.yaml`));
  });

  it.each(renderedClusters)('has no secret but what the resolver gives: %s', async (name) => {
    const text = yamlOf(await rendered(name));
    expect(text).not.toContain('CANARY');
    expect(JSON.stringify(await rendered(name))).not.toContain(Buffer.from('CANARY-7391').toString('base64'));
  });

  it.each(renderedClusters)('names each object once, all in one namespace, each of the cluster: %s', async (name) => {
    const objects = await rendered(name);
    const keys = objects.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace)).size).toBe(1);
    expect(new Set(objects.map(({ metadata }) => metadata.labels?.['cluster.x-k8s.io/cluster-name'])).size).toBe(1);
  });

  it('needs a spare host for a rollout of fewer than three control planes only', async () => {
    const surge = { rollout: { strategy: { rollingUpdate: { maxSurge: 1 } } } };
    expect((await find('one-and-two', 'KubeadmControlPlane'))['spec']).toMatchObject({ replicas: 1, ...surge });
    surge.rollout.strategy.rollingUpdate.maxSurge = 0;
    expect((await find('keepalived', 'KubeadmControlPlane'))['spec']).toMatchObject({ replicas: 3, ...surge });
  });

  it('has workers to be scaled up to even where there are none', async () => {
    expect((await find('external', 'MachineDeployment'))['spec']).toMatchObject({ replicas: 0 });
  });

  it('asks every API server for its own port, whatever a load balancer elsewhere listens on', async () => {
    expect((await find('external', 'Cluster'))['spec']).toMatchObject({ clusterNetwork: { apiServerPort: 6443 } });
    expect((await find('keepalived', 'Cluster'))['spec']).toMatchObject({ clusterNetwork: { apiServerPort: 7443 } });
  });
});
