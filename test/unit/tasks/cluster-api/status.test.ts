import { beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { ensureManagementCa, managementCaKey } from '../../../../src/tasks/cluster-api/management-ca.ts';
import { inventoryObject } from '../../../../src/tasks/cluster-api/inventory.ts';
import { providers } from '../../../../src/tasks/cluster-api/providers.ts';
import { catalogueLabel } from '../../../../src/tasks/cluster-api/release-object.ts';
import { managementStatus } from '../../../../src/tasks/cluster-api/status.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';

const now = new Date('2026-11-30T12:00:00Z');
let cluster: FakeCluster;

const catalogue: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: managementCaKey.namespace, name: 'release', labels: { [catalogueLabel]: '' } },
};

function deployment(namespace: string, name: string): KubeObject {
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  const metadata = { namespace, name, generation: 1 };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 1 }, status };
}

/** Refuses each object that a webhook would. */
const denies = async ({ kind }: KubeObject): Promise<KubeObject> => {
  const probe = providers.find(({ webhook }) => webhook?.probe.object.kind === kind)?.webhook?.probe;
  throw new BkeError('BKE_KUBE_REFUSED', `admission webhook "${probe?.name ?? ''}" denied the request: no`);
};

async function troubles(apply = denies): Promise<(string | undefined)[]> {
  return (await managementStatus({ ...cluster.client(), apply }, now)).map(({ trouble }) => trouble);
}

beforeEach(async () => {
  cluster = new FakeCluster();
  for (const provider of providers) {
    cluster.put(inventoryObject(provider, 'v1.0.0'), deployment(provider.namespace, provider.deployment));
  }
  const create = async (object: KubeObject): Promise<KubeObject> => {
    cluster.put(object);
    return object;
  };
  await ensureManagementCa({ ...cluster.client(), create }, { now });
  cluster.put(catalogue);
});

it('is well where all run, the webhooks refuse what they should, and what bke works from is there', async () => {
  expect(await troubles()).toEqual([undefined, undefined, undefined, undefined]);
});

it('tells of webhooks that are not asked, or not reached', async () => {
  const accepted = await troubles(async (object) => object);
  expect(accepted).toEqual([...Array(3).fill(expect.stringMatching(/was accepted: it was not asked$/)), undefined]);
  const failed = await troubles(async () => {
    throw new BkeError('BKE_KUBE_FAILED', 'failed calling webhook: x509');
  });
  expect(failed).toEqual([...Array(3).fill('failed calling webhook: x509'), undefined]);
});

it('tells where the management CA is gone or damaged', async () => {
  await cluster.delete(managementCaKey);
  expect((await troubles())[3]).toMatch(/^the management CA .* is missing\. Run `bke init` again/);
  const { namespace, name } = managementCaKey;
  cluster.put({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data: {} });
  expect((await troubles())[3]).toMatch(/ is damaged\. Delete the Secret/);
});

it('tells where there is no catalogue', async () => {
  await cluster.delete({ apiVersion: 'v1', kind: 'ConfigMap', ...catalogue.metadata });
  expect((await troubles())[3]).toMatch(/^the cluster has no catalogue/);
});
